// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for protection domains.
#include "uverbs/pd.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_alloc_pd(ibv_context *context, ibv_pd *pd, struct ibv_alloc_pd *cmd, size_t cmd_size,
                                  ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
    verbs::Result<uint32_t> handle = verbs::uverbs::pd_alloc(
        channel(context), verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!handle)
        return creation_error(handle.error());
    verbs::provider_api::give_answer(resp, resp_size, {.pd_handle = *handle});
    pd->context = context;
    pd->handle = *handle;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_alloc_pd);

VERBS_EXPORT int ibv_cmd_dealloc_pd(ibv_pd *pd)
{
    return verbs::provider_api::destroy_error(verbs::uverbs::pd_dealloc(channel(pd->context), pd->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_dealloc_pd);
