// SPDX-License-Identifier: BSD-2-Clause
// Address handles, for programs of 2006.
#include "api_1_0/verbs.hh"

using namespace verbs;

VERBS_EXPORT_1_0(ibv_create_ah) ibv_ah_1_0 *ibv_create_ah_1_0(ibv_pd_1_0 *pd, ibv_ah_attr *attr)
{
    Allocated<ibv_ah_1_0> ah = allocate<ibv_ah_1_0>();
    if (!ah)
        return null_with(ENOMEM);
    ah->real_ah = ibv_create_ah(pd->real_pd, attr);
    if (ah->real_ah == nullptr)
        return nullptr;
    ah->context = pd->context;
    ah->pd = pd;
    ah->handle = ah->real_ah->handle;
    return ah.release();
}

VERBS_EXPORT_1_0(ibv_destroy_ah) int ibv_destroy_ah_1_0(ibv_ah_1_0 *ah)
{
    return api_1_0::destroyed(ah, ibv_destroy_ah(ah->real_ah));
}
