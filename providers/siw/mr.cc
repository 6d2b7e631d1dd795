// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: the kernel pins and checks the memory, and names it by a steering tag (STag, RFC 5040 section 4).
#include "mr.hh"

#include <rdma/siw-abi.h>

#include "common/extended.hh"
#include "common/memory.hh"

namespace siw {

ibv_mr *mr_reg(ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    auto mr = common::allocate<verbs_mr>();
    if (!mr)
        return nullptr;
    // The last byte of the STag would be ours to choose; it is 0.
    common::Extended<struct ibv_reg_mr, siw_ureq_reg_mr> command;
    common::Extended<ib_uverbs_reg_mr_resp, siw_uresp_reg_mr> response;
    const int error = ibv_cmd_reg_mr(pd, addr, length, iova, access, mr.get(), command.core(), command.size(),
                                     response.core(), response.size());
    if (error != 0)
        return common::null_with(error);
    return &mr.release()->ibv_mr;
}

int mr_dereg(verbs_mr *mr)
{
    const int error = ibv_cmd_dereg_mr(mr);
    if (error == 0)
        std::free(mr);
    return error;
}

}  // namespace siw
