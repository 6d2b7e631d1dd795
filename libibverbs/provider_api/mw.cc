// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for memory windows.
#include "uverbs/mw.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_alloc_mw(ibv_pd *pd, ibv_mw_type type, ibv_mw *mw, struct ibv_alloc_mw *cmd,
                                  size_t cmd_size, ib_uverbs_alloc_mw_resp *resp, size_t resp_size)
{
    verbs::Result<verbs::uverbs::MwInfo> info =
        verbs::uverbs::mw_alloc(channel(pd->context), pd->handle, type,
                                verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return creation_error(info.error());
    verbs::provider_api::give_answer(resp, resp_size, {.mw_handle = info->handle, .rkey = info->rkey});
    *mw = {.context = pd->context, .pd = pd, .rkey = info->rkey, .handle = info->handle, .type = type};
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_alloc_mw);

VERBS_EXPORT int ibv_cmd_dealloc_mw(ibv_mw *mw)
{
    return verbs::provider_api::destroy_error(verbs::uverbs::mw_dealloc(channel(mw->context), mw->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_dealloc_mw);
