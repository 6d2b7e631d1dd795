// SPDX-License-Identifier: BSD-2-Clause
// For providers: ioctl commands of their own, and what becomes of objects when their device is gone.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "uverbs/command_buffer.hh"

VERBS_EXPORT int execute_ioctl(ibv_context *context, ibv_command_buffer *cmd)
{
    return verbs::uverbs::issue(verbs::provider::channel(context), *cmd).error();
}
VERBS_EXPORT_SINCE_34(execute_ioctl);

VERBS_EXPORT unsigned int __ioctl_final_num_attrs(unsigned int num_attrs, ibv_command_buffer *link)
{
    return num_attrs + static_cast<unsigned int>(verbs::uverbs::attribute_count(link));
}
VERBS_EXPORT_SINCE_34(__ioctl_final_num_attrs);

__attribute__((visibility("default"))) bool verbs_allow_disassociate_destroy = false;
VERBS_EXPORT_SINCE_34(verbs_allow_disassociate_destroy);
