// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider/layouts/qp.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_qp *ibv_create_qp(ibv_pd *pd, ibv_qp_init_attr *qp_init_attr)
{
    return ops(pd->context).create_qp(pd, qp_init_attr);
}

VERBS_EXPORT ibv_qp_ex *ibv_qp_to_qp_ex(ibv_qp *qp)
{
    auto *vqp = reinterpret_cast<verbs_qp *>(qp);
    return (verbs::provider::qp_comp_mask(*vqp, qp->context) & VERBS_QP_EX) != 0 ? &vqp->qp_ex : nullptr;
}

VERBS_EXPORT int ibv_query_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr *init_attr)
{
    int error = ops(qp->context).query_qp(qp, attr, attr_mask, init_attr);
    if (error == 0 && (attr_mask & IBV_QP_STATE) != 0)
        qp->state = attr->qp_state;
    return error;
}

VERBS_EXPORT int ibv_modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask)
{
    int error = ops(qp->context).modify_qp(qp, attr, attr_mask);
    if (error == 0 && (attr_mask & IBV_QP_STATE) != 0)
        qp->state = attr->qp_state;
    return error;
}

VERBS_EXPORT int ibv_query_qp_data_in_order(ibv_qp *qp, ibv_wr_opcode op, uint32_t flags)
{
    return ops(qp->context).query_qp_data_in_order(qp, op, flags);
}

VERBS_EXPORT int ibv_set_ece(ibv_qp *qp, ibv_ece *ece)
{
    int error = ops(qp->context).set_ece(qp, ece);
    if (error != 0)
        errno = error;  // stock sets both here, unlike in ibv_query_ece
    return error;
}

VERBS_EXPORT int ibv_query_ece(ibv_qp *qp, ibv_ece *ece)
{
    return ops(qp->context).query_ece(qp, ece);
}

VERBS_EXPORT int ibv_destroy_qp(ibv_qp *qp)
{
    return ops(qp->context).destroy_qp(qp);
}
