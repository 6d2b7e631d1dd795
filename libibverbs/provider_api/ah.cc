// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for address handles.
#include "uverbs/ah.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_create_ah(ibv_pd *pd, ibv_ah *ah, ibv_ah_attr *attr, ib_uverbs_create_ah_resp *resp,
                                   size_t resp_size)
{
    using verbs::provider_api::driver_data;
    verbs::Result<uint32_t> handle = verbs::uverbs::ah_create(
        channel(pd->context), verbs::provider_api::user_handle(ah), pd->handle, *attr,
        driver_data(static_cast<ib_uverbs_create_ah_resp *>(nullptr), 0, resp, resp_size));
    if (!handle)
        return creation_error(handle.error());
    verbs::provider_api::give_answer(resp, resp_size, {.ah_handle = *handle});
    *ah = {.context = pd->context, .pd = pd, .handle = *handle};
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_ah);

VERBS_EXPORT int ibv_cmd_destroy_ah(ibv_ah *ah)
{
    return verbs::provider_api::destroy_error(verbs::uverbs::ah_destroy(channel(ah->context), ah->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_ah);
