// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for memory regions.
#include "uverbs/mr.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;

VERBS_EXPORT int ibv_cmd_reg_mr(ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
                                verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
                                ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
    verbs::uverbs::MrRequest request = {.pd_handle = pd->handle,
                                        .start = reinterpret_cast<uintptr_t>(addr),
                                        .length = length,
                                        .iova = hca_va,
                                        .access = static_cast<uint32_t>(access)};
    verbs::Result<verbs::uverbs::MrInfo> info = verbs::uverbs::mr_register(
        channel(pd->context), request, verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return info.error();
    vmr->ibv_mr = {.context = pd->context,
                   .pd = pd,
                   .addr = addr,
                   .length = length,
                   .handle = info->handle,
                   .lkey = info->lkey,
                   .rkey = info->rkey};
    vmr->mr_type = IBV_MR_TYPE_MR;
    vmr->access = access;
    return 0;
}

VERBS_EXPORT int ibv_cmd_rereg_mr(verbs_mr *vmr, uint32_t flags, void *addr, size_t length, uint64_t hca_va,
                                  int access, ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_size,
                                  ib_uverbs_rereg_mr_resp *resp, size_t resp_size)
{
    verbs::uverbs::MrRequest request = {.pd_handle = (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd->handle : 0,
                                        .start = reinterpret_cast<uintptr_t>(addr),
                                        .length = length,
                                        .iova = hca_va,
                                        .access = static_cast<uint32_t>(access)};
    ibv_mr &mr = vmr->ibv_mr;
    verbs::Result<verbs::uverbs::MrInfo> info =
        verbs::uverbs::mr_reregister(channel(mr.context), mr.handle, flags, request,
                                     verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return info.error();
    mr.lkey = info->lkey;
    mr.rkey = info->rkey;
    return 0;
}

VERBS_EXPORT int ibv_cmd_dereg_mr(verbs_mr *vmr)
{
    return verbs::uverbs::mr_deregister(channel(vmr->ibv_mr.context), vmr->ibv_mr.handle).error();
}
