// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for device memory.
#include "uverbs/dm.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_alloc_dm(ibv_context *context, const ibv_alloc_dm_attr *dm_attr, verbs_dm *dm,
                                  ibv_command_buffer *link)
{
    verbs::Result<uint32_t> handle =
        verbs::uverbs::dm_alloc(channel(context), dm_attr->length, dm_attr->log_align_req, link);
    if (!handle)
        return creation_error(handle.error());
    dm->dm.context = context;
    dm->dm.comp_mask = IBV_DM_MASK_HANDLE;
    dm->dm.handle = *handle;
    dm->handle = *handle;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_alloc_dm);

VERBS_EXPORT int ibv_cmd_free_dm(verbs_dm *dm)
{
    return verbs::provider_api::destroy_error(verbs::uverbs::dm_free(channel(dm->dm.context), dm->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_free_dm);
