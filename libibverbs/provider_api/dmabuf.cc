// SPDX-License-Identifier: BSD-2-Clause
// For providers: dma-bufs of a device's own memory.
#include "uverbs/dmabuf.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

VERBS_EXPORT int ibv_cmd_export_dmabuf_fd(ibv_context *context, off_t pgoff)
{
    verbs::Result<verbs::UniqueFd> fd =
        verbs::uverbs::dmabuf_export(verbs::provider::channel(context), static_cast<uint64_t>(pgoff));
    return fd ? fd->release() : verbs::minus_one_with(verbs::provider_api::newer_error(fd.status()));
}
VERBS_EXPORT_SINCE_59(ibv_cmd_export_dmabuf_fd);
