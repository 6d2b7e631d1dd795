// SPDX-License-Identifier: BSD-2-Clause
// Protection domains, for programs of 2006.
#include "api_1_0/verbs.hh"

using namespace verbs;

VERBS_EXPORT_1_0(ibv_alloc_pd) ibv_pd_1_0 *ibv_alloc_pd_1_0(ibv_context_1_0 *context)
{
    Allocated<ibv_pd_1_0> pd = allocate<ibv_pd_1_0>();
    if (!pd)
        return null_with(ENOMEM);
    pd->real_pd = ibv_alloc_pd(context->real_context);
    if (pd->real_pd == nullptr)
        return nullptr;
    pd->context = context;
    pd->handle = pd->real_pd->handle;
    return pd.release();
}

VERBS_EXPORT_1_0(ibv_dealloc_pd) int ibv_dealloc_pd_1_0(ibv_pd_1_0 *pd)
{
    return api_1_0::destroyed(pd, ibv_dealloc_pd(pd->real_pd));
}
