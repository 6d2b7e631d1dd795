// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory windows.
#include "uverbs/mw.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {

Result<MwInfo> mw_alloc(Channel &channel, uint32_t pd_handle, ibv_mw_type type, const DriverData &driver)
{
    ib_uverbs_alloc_mw request = {};
    request.pd_handle = pd_handle;
    request.mw_type = static_cast<uint8_t>(type);
    ib_uverbs_alloc_mw_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_ALLOC_MW, request, response, driver);
    if (!status)
        return status;
    return MwInfo{.handle = response.mw_handle, .rkey = response.rkey};
}

Status mw_dealloc(Channel &channel, uint32_t handle)
{
    return object_destroy(channel, {UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY},
                          UVERBS_ATTR_DESTROY_MW_HANDLE, handle, IB_USER_VERBS_CMD_DEALLOC_MW,
                          ib_uverbs_dealloc_mw{.mw_handle = handle});
}

}  // namespace verbs::uverbs
