// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs, for programs of 2006.
#include "api_1_0/verbs.hh"

using namespace verbs;

VERBS_EXPORT_1_0(ibv_create_qp)
ibv_qp_1_0 *ibv_create_qp_1_0(ibv_pd_1_0 *pd, ibv_qp_init_attr_1_0 *qp_init_attr)
{
    Allocated<ibv_qp_1_0> qp = allocate<ibv_qp_1_0>();
    if (!qp)
        return null_with(ENOMEM);
    qp->context = pd->context;
    qp->qp_context = qp_init_attr->qp_context;
    qp->pd = pd;
    qp->send_cq = qp_init_attr->send_cq;
    qp->recv_cq = qp_init_attr->recv_cq;
    qp->srq = qp_init_attr->srq;
    ibv_qp_init_attr attr = {
        .qp_context = qp.get(),
        .send_cq = qp->send_cq != nullptr ? qp->send_cq->real_cq : nullptr,
        .recv_cq = qp->recv_cq != nullptr ? qp->recv_cq->real_cq : nullptr,
        .srq = qp->srq != nullptr ? qp->srq->real_srq : nullptr,
        .cap = qp_init_attr->cap,
        .qp_type = qp_init_attr->qp_type,
        .sq_sig_all = qp_init_attr->sq_sig_all,
    };
    qp->real_qp = ibv_create_qp(pd->real_pd, &attr);
    if (qp->real_qp == nullptr)
        return nullptr;
    qp->handle = qp->real_qp->handle;
    qp->qp_num = qp->real_qp->qp_num;
    qp->state = qp->real_qp->state;
    qp->qp_type = qp->real_qp->qp_type;
    qp_init_attr->cap = attr.cap;
    return qp.release();
}

VERBS_EXPORT_1_0(ibv_query_qp)
int ibv_query_qp_1_0(ibv_qp_1_0 *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr_1_0 *init_attr)
{
    ibv_qp_init_attr real = {};
    int error = ibv_query_qp(qp->real_qp, attr, attr_mask, &real);
    if (error != 0)
        return error;
    qp->state = qp->real_qp->state;
    *init_attr = {.qp_context = qp->qp_context,
                  .send_cq = qp->send_cq,
                  .recv_cq = qp->recv_cq,
                  .srq = qp->srq,
                  .cap = real.cap,
                  .qp_type = real.qp_type,
                  .sq_sig_all = real.sq_sig_all};
    return 0;
}

VERBS_EXPORT_1_0(ibv_modify_qp) int ibv_modify_qp_1_0(ibv_qp_1_0 *qp, ibv_qp_attr *attr, int attr_mask)
{
    int error = ibv_modify_qp(qp->real_qp, attr, attr_mask);
    qp->state = qp->real_qp->state;
    return error;
}

VERBS_EXPORT_1_0(ibv_destroy_qp) int ibv_destroy_qp_1_0(ibv_qp_1_0 *qp)
{
    return api_1_0::destroyed(qp, ibv_destroy_qp(qp->real_qp));
}
