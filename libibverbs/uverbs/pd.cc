// SPDX-License-Identifier: BSD-2-Clause
// Commands for protection domains.
#include "uverbs/pd.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {

Result<uint32_t> pd_alloc(Channel &channel, const DriverData &driver)
{
    ib_uverbs_alloc_pd request = {};
    ib_uverbs_alloc_pd_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_ALLOC_PD, request, response, driver);
    if (!status)
        return status;
    return response.pd_handle;
}

Status pd_dealloc(Channel &channel, uint32_t handle)
{
    return object_destroy(channel, {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY},
                          UVERBS_ATTR_DESTROY_PD_HANDLE, handle, IB_USER_VERBS_CMD_DEALLOC_PD,
                          ib_uverbs_dealloc_pd{.pd_handle = handle});
}

}  // namespace verbs::uverbs
