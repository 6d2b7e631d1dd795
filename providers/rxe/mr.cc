// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: the kernel pins and checks the memory, and the WQE names it by its lkey.
#include "mr.hh"

#include "common/memory.hh"

namespace rxe {

ibv_mr *mr_reg(ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    auto mr = common::allocate<verbs_mr>();
    if (!mr)
        return nullptr;
    struct ibv_reg_mr command {};
    ib_uverbs_reg_mr_resp response{};
    const int error = ibv_cmd_reg_mr(pd, addr, length, iova, access, mr.get(), &command, sizeof(command),
                                     &response, sizeof(response));
    if (error != 0)
        return common::null_with(error);
    return &mr.release()->ibv_mr;
}

ibv_mr *mr_reg_dmabuf(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    auto mr = common::allocate<verbs_mr>();
    if (!mr)
        return nullptr;
    const int error = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr.get(), nullptr);
    if (error != 0)
        return common::null_with(error);
    return &mr.release()->ibv_mr;
}

ibv_mr *mr_import(ibv_pd *pd, uint32_t handle)
{
    auto mr = common::allocate<verbs_mr>();
    if (!mr)
        return nullptr;
    const int error = ibv_cmd_query_mr(pd, mr.get(), handle);
    if (error != 0)
        return common::null_with(error);
    return &mr.release()->ibv_mr;
}

void mr_unimport(ibv_mr *mr)
{
    std::free(verbs_get_mr(mr));
}

int mr_rereg(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, size_t length, int access)
{
    struct ibv_rereg_mr command {};
    ib_uverbs_rereg_mr_resp response{};
    return ibv_cmd_rereg_mr(mr, static_cast<uint32_t>(flags), addr, length, reinterpret_cast<uintptr_t>(addr),
                            access, pd, &command, sizeof(command), &response, sizeof(response));
}

int mr_dereg(verbs_mr *mr)
{
    const int error = ibv_cmd_dereg_mr(mr);
    if (error == 0)
        std::free(mr);
    return error;
}

}  // namespace rxe
