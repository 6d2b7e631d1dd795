// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for counters.
#include "uverbs/counters.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_create_counters(ibv_context *context, ibv_counters_init_attr *init_attr,
                                         verbs_counters *vcounters, ibv_command_buffer *link)
{
    if (init_attr->comp_mask != 0)
        return creation_error(EOPNOTSUPP);
    verbs::Result<uint32_t> handle = verbs::uverbs::counters_create(channel(context), link);
    if (!handle)
        return creation_error(handle.error());
    vcounters->counters.context = context;
    vcounters->handle = *handle;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_counters);

VERBS_EXPORT int ibv_cmd_read_counters(verbs_counters *vcounters, uint64_t *counters_value,
                                       uint32_t ncounters, uint32_t flags, ibv_command_buffer *link)
{
    return verbs::uverbs::counters_read(channel(vcounters->counters.context), vcounters->handle,
                                        {counters_value, ncounters}, flags, link)
        .error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_read_counters);

VERBS_EXPORT int ibv_cmd_destroy_counters(verbs_counters *vcounters)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::counters_destroy(channel(vcounters->counters.context), vcounters->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_counters);
