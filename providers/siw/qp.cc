// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs: create, modify, query, destroy, post receive requests.
#include "qp.hh"

#include "common/extended.hh"
#include "common/memory.hh"
#include "common/qp.hh"

namespace siw {
namespace {

/// Maps the rings of a QP that the kernel made; 0 or an errno value.
int rings_init(Qp &qp, const siw_uresp_create_qp &response, const ibv_qp_init_attr_ex &attr)
{
    const int fd = qp.verbs.qp.context->cmd_fd;
    int error = qp.sq.ring.map(fd, response.sq_key, response.num_sqe);
    if (error == 0 && attr.srq == nullptr) {
        error = qp.rq.ring.map(fd, response.rq_key, response.num_rqe);
        if (error != 0)
            qp.sq.ring.unmap();
    }
    if (error != 0)
        return error;
    qp.sq.lock.init();
    qp.sq.max_sge = attr.cap.max_send_sge;
    qp.sq.signal_all = attr.sq_sig_all != 0;
    qp.rq.lock.init();
    qp.rq.max_sge = attr.cap.max_recv_sge;
    return 0;
}

}  // namespace

ibv_qp *qp_create(ibv_pd *pd, ibv_qp_init_attr *attr)
{
    return common::create_qp_by_ex(pd, attr, qp_create_ex);
}

ibv_qp *qp_create_ex(ibv_context *context, ibv_qp_init_attr_ex *attr)
{
    int error = common::check_qp_attr(*attr, kSendOperations);
    if (error != 0)
        return common::null_with(error);

    auto qp = common::allocate<Qp>();
    if (!qp)
        return nullptr;
    common::Extended<ib_uverbs_create_qp_resp, siw_uresp_create_qp> response;
    error = common::command_create_qp(context, qp->verbs, *attr, response);
    if (error != 0)
        return common::null_with(error);
    error = rings_init(*qp, response.driver(), *attr);
    if (error != 0) {
        ibv_cmd_destroy_qp(&qp->verbs.qp);
        return common::null_with(error);
    }
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
    qp->sq.lock.destroy();
    std::free(qp);
    return 0;
}

int qp_post_recv(ibv_qp *ibqp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    if (wr == nullptr)
        return EINVAL;
    if (ibqp->srq != nullptr) {
        *bad_wr = wr;
        return EINVAL;
    }
    return to_qp(ibqp)->rq.post(wr, bad_wr);
}

}  // namespace siw
