// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs: create, modify, query, destroy, post receive requests.
#include "qp.hh"

#include "common/extended.hh"
#include "common/memory.hh"
#include "common/qp.hh"
#include "context.hh"

namespace rxe {
namespace {

/// IBV_QP_EX_WITH_* for operations: up to TSO each flag lies at the number of its opcode.
uint64_t send_ops_flags(uint32_t operations)
{
    static_assert(IBV_QP_EX_WITH_RDMA_WRITE == operation(IBV_WR_RDMA_WRITE));
    static_assert(IBV_QP_EX_WITH_BIND_MW == operation(IBV_WR_BIND_MW));
    static_assert(IBV_QP_EX_WITH_SEND_WITH_INV == operation(IBV_WR_SEND_WITH_INV));
    static_assert(IBV_QP_EX_WITH_TSO == operation(IBV_WR_TSO));
    uint64_t flags = operations & (2 * IBV_QP_EX_WITH_TSO - 1);
    if ((operations & operation(IBV_WR_FLUSH)) != 0)
        flags |= IBV_QP_EX_WITH_FLUSH;
    if ((operations & operation(IBV_WR_ATOMIC_WRITE)) != 0)
        flags |= IBV_QP_EX_WITH_ATOMIC_WRITE;
    return flags;
}

/// Maps the rings of a QP that the kernel made; 0 or an errno value.
int rings_init(Qp &qp, const rxe_create_qp_resp &response, const ibv_qp_cap &cap)
{
    if (qp.verbs.qp.srq == nullptr && response.rq_mi.size == 0)
        return EPROTO;  // a driver that gives no receive queue to a QP that needs one is not the one known here
    const int fd = qp.verbs.qp.context->cmd_fd;
    int error = qp.sq.ring.map(fd, response.sq_mi);
    if (error == 0 && response.rq_mi.size != 0) {
        error = qp.rq.ring.map(fd, response.rq_mi);
        if (error != 0)
            qp.sq.ring.unmap();
    }
    if (error != 0)
        return error;
    qp.sq.lock.init(qp.membership.single_threaded());
    qp.sq.max_sge = cap.max_send_sge;
    qp.sq.max_inline = cap.max_inline_data;
    qp.rq.lock.init(qp.membership.single_threaded());
    qp.rq.max_sge = cap.max_recv_sge;
    return 0;
}

}  // namespace

ibv_qp *qp_create(ibv_pd *pd, ibv_qp_init_attr *attr)
{
    return common::create_qp_by_ex(pd, attr, qp_create_ex);
}

ibv_qp *qp_create_ex(ibv_context *context, ibv_qp_init_attr_ex *attr)
{
    const uint32_t operations = operations_of(attr->qp_type, to_context(context)->capabilities);
    int error = common::check_qp_attr(*attr, send_ops_flags(operations));
    if (error != 0)
        return common::null_with(error);

    auto qp = member_allocate<Qp>(attr->pd, Resource::kQp);
    if (!qp)
        return nullptr;
    common::Extended<ib_uverbs_create_qp_resp, rxe_create_qp_resp> response;
    error = common::command_create_qp(context, qp->verbs, *attr, response);
    if (error != 0)
        return common::null_with(error);
    error = rings_init(*qp, response.driver(), attr->cap);
    if (error != 0) {
        ibv_cmd_destroy_qp(&qp->verbs.qp);
        return common::null_with(error);
    }
    qp_doorbell_init(*qp);
    qp->sq.datagram = attr->qp_type == IBV_QPT_UD;
    qp->sq.operations = operations;
    qp->sq.checked = qp->sq.datagram ? operations : kAlignedOperations;
    if (common::wants_send_ops(*attr)) {
        qp_ex_init(qp->verbs.qp_ex);
        qp->verbs.comp_mask |= VERBS_QP_EX;
    }
    return &qp.release()->verbs.qp;
}

int qp_modify(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask)
{
    struct ibv_modify_qp command {};
    return ibv_cmd_modify_qp(qp, attr, attr_mask, &command, sizeof(command));
}

int qp_query(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr *init_attr)
{
    struct ibv_query_qp command {};
    return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &command, sizeof(command));
}

int qp_destroy(ibv_qp *ibqp)
{
    const int error = ibv_cmd_destroy_qp(ibqp);
    if (error != 0)
        return error;
    Qp *qp = to_qp(ibqp);
    qp->sq.ring.unmap();
    qp->rq.ring.unmap();
    member_free(qp, Resource::kQp, qp->membership);
    return 0;
}

int qp_post_recv(ibv_qp *ibqp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    if (wr == nullptr)
        return EINVAL;
    if (ibqp->state == IBV_QPS_RESET || ibqp->srq != nullptr) {
        *bad_wr = wr;
        return EINVAL;
    }
    const int error = to_qp(ibqp)->rq.post(wr, bad_wr);
    // In this state no message makes the driver look at the queue; entering it again does, and so flushes what was
    // posted (IBTA 10.3.1.7). The driver has no doorbell for receive queues.
    if (ibqp->state == IBV_QPS_ERR) {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_ERR;
        qp_modify(ibqp, &attr, IBV_QP_STATE);
    }
    return error;
}

}  // namespace rxe
