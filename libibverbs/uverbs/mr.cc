// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory regions.
#include "uverbs/mr.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {

Result<MrInfo> mr_register(Channel &channel, const MrRequest &mr, const DriverData &driver)
{
    ib_uverbs_reg_mr request = {};
    request.start = mr.start;
    request.length = mr.length;
    request.hca_va = mr.iova;
    request.pd_handle = mr.pd_handle;
    request.access_flags = mr.access;
    ib_uverbs_reg_mr_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_REG_MR, request, response, driver);
    if (!status)
        return status;
    return MrInfo{.handle = response.mr_handle, .lkey = response.lkey, .rkey = response.rkey};
}

Result<MrInfo> mr_reregister(Channel &channel, uint32_t handle, uint32_t flags, const MrRequest &mr,
                             const DriverData &driver)
{
    ib_uverbs_rereg_mr request = {};
    request.mr_handle = handle;
    request.flags = flags;
    request.start = mr.start;
    request.length = mr.length;
    request.hca_va = mr.iova;
    request.pd_handle = mr.pd_handle;
    request.access_flags = mr.access;
    ib_uverbs_rereg_mr_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_REREG_MR, request, response, driver);
    if (!status)
        return status;
    return MrInfo{.handle = handle, .lkey = response.lkey, .rkey = response.rkey};
}

Status mr_deregister(Channel &channel, uint32_t handle)
{
    return object_destroy(channel, {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY},
                          UVERBS_ATTR_DESTROY_MR_HANDLE, handle, IB_USER_VERBS_CMD_DEREG_MR,
                          ib_uverbs_dereg_mr{.mr_handle = handle});
}

}  // namespace verbs::uverbs
