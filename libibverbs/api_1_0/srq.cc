// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues, for programs of 2006.
#include "api_1_0/verbs.hh"

using namespace verbs;

VERBS_EXPORT_1_0(ibv_create_srq)
ibv_srq_1_0 *ibv_create_srq_1_0(ibv_pd_1_0 *pd, ibv_srq_init_attr *srq_init_attr)
{
    Allocated<ibv_srq_1_0> srq = allocate<ibv_srq_1_0>();
    if (!srq)
        return null_with(ENOMEM);
    srq->context = pd->context;
    srq->srq_context = srq_init_attr->srq_context;
    srq->pd = pd;
    ibv_srq_init_attr attr = {.srq_context = srq.get(), .attr = srq_init_attr->attr};
    srq->real_srq = ibv_create_srq(pd->real_pd, &attr);
    if (srq->real_srq == nullptr)
        return nullptr;
    srq->handle = srq->real_srq->handle;
    srq_init_attr->attr = attr.attr;
    return srq.release();
}

VERBS_EXPORT_1_0(ibv_modify_srq)
int ibv_modify_srq_1_0(ibv_srq_1_0 *srq, ibv_srq_attr *srq_attr, int srq_attr_mask)
{
    return ibv_modify_srq(srq->real_srq, srq_attr, srq_attr_mask);
}

VERBS_EXPORT_1_0(ibv_query_srq) int ibv_query_srq_1_0(ibv_srq_1_0 *srq, ibv_srq_attr *srq_attr)
{
    return ibv_query_srq(srq->real_srq, srq_attr);
}

VERBS_EXPORT_1_0(ibv_destroy_srq) int ibv_destroy_srq_1_0(ibv_srq_1_0 *srq)
{
    return api_1_0::destroyed(srq, ibv_destroy_srq(srq->real_srq));
}
