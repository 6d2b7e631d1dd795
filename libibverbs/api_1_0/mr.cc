// SPDX-License-Identifier: BSD-2-Clause
// Memory regions, for programs of 2006.
#include "api_1_0/verbs.hh"

#undef ibv_reg_mr  // the exported verb

using namespace verbs;

VERBS_EXPORT_1_0(ibv_reg_mr) ibv_mr_1_0 *ibv_reg_mr_1_0(ibv_pd_1_0 *pd, void *addr, size_t length, int access)
{
    Allocated<ibv_mr_1_0> mr = allocate<ibv_mr_1_0>();
    if (!mr)
        return null_with(ENOMEM);
    mr->real_mr = ibv_reg_mr(pd->real_pd, addr, length, access);
    if (mr->real_mr == nullptr)
        return nullptr;
    mr->context = pd->context;
    mr->pd = pd;
    mr->handle = mr->real_mr->handle;
    mr->lkey = mr->real_mr->lkey;
    mr->rkey = mr->real_mr->rkey;
    return mr.release();
}

VERBS_EXPORT_1_0(ibv_dereg_mr) int ibv_dereg_mr_1_0(ibv_mr_1_0 *mr)
{
    return api_1_0::destroyed(mr, ibv_dereg_mr(mr->real_mr));
}
