// SPDX-License-Identifier: BSD-2-Clause
// Completion queues: create, destroy, ask for events, and polling with ibv_poll_cq.
#include "cq.hh"

#include "common/extended.hh"
#include "common/memory.hh"

namespace siw {
namespace {

/// What a completion of siw can tell: there are no immediate data, and no packet's header fields.
constexpr uint64_t kWcFields = IBV_WC_STANDARD_FLAGS;

/// The end of both ways to create a CQ: maps the ring of the one that the kernel made, or destroys it.
int ring_init(Cq &cq, const siw_uresp_create_cq &response)
{
    const int error =
        cq.ring.map(cq.verbs.cq.context->cmd_fd, response.cq_key, response.num_cqe, sizeof(siw_cq_ctrl));
    if (error != 0)
        ibv_cmd_destroy_cq(&cq.verbs.cq);
    else
        cq.lock.init();
    return error;
}

}  // namespace

ibv_cq *cq_create(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector)
{
    auto cq = common::allocate<Cq>();
    if (!cq)
        return nullptr;
    struct ibv_create_cq command {};
    common::Extended<ib_uverbs_create_cq_resp, siw_uresp_create_cq> response;
    int error = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->verbs.cq, &command,
                                  sizeof(command), response.core(), response.size());
    if (error == 0)
        error = ring_init(*cq, response.driver());
    if (error != 0)
        return common::null_with(error);
    return &cq.release()->verbs.cq;
}

ibv_cq_ex *cq_create_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
    const uint32_t flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attr->flags : 0;
    if ((attr->wc_flags & ~kWcFields) != 0 || (flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)
        return common::null_with(EOPNOTSUPP);
    auto cq = common::allocate<Cq>();
    if (!cq)
        return nullptr;
    struct ibv_create_cq_ex command {};
    common::Extended<ib_uverbs_ex_create_cq_resp, siw_uresp_create_cq> response;
    int error = ibv_cmd_create_cq_ex(context, attr, nullptr, &cq->verbs, &command, sizeof(command),
                                     response.core(), response.size(), 0);
    if (error == 0)
        error = ring_init(*cq, response.driver());
    if (error != 0)
        return common::null_with(error);
    cq->unlocked = flags != 0;
    cq_ex_init(cq->verbs.cq_ex);
    return &cq.release()->verbs.cq_ex;
}

int cq_destroy(ibv_cq *ibcq)
{
    const int error = ibv_cmd_destroy_cq(ibcq);
    if (error != 0)
        return error;
    Cq *cq = to_cq(ibcq);
    cq->ring.unmap();
    std::free(cq);
    return 0;
}

ibv_wc_status wc_status(const siw_cqe &cqe)
{
    switch (cqe.status) {
        case SIW_WC_SUCCESS:
            return IBV_WC_SUCCESS;
        case SIW_WC_LOC_LEN_ERR:
            return IBV_WC_LOC_LEN_ERR;
        case SIW_WC_LOC_PROT_ERR:
            return IBV_WC_LOC_PROT_ERR;
        case SIW_WC_LOC_QP_OP_ERR:
            return IBV_WC_LOC_QP_OP_ERR;
        case SIW_WC_WR_FLUSH_ERR:
            return IBV_WC_WR_FLUSH_ERR;
        case SIW_WC_BAD_RESP_ERR:
            return IBV_WC_BAD_RESP_ERR;
        case SIW_WC_LOC_ACCESS_ERR:
            return IBV_WC_LOC_ACCESS_ERR;
        case SIW_WC_REM_ACCESS_ERR:
            return IBV_WC_REM_ACCESS_ERR;
        case SIW_WC_REM_INV_REQ_ERR:
            return IBV_WC_REM_INV_REQ_ERR;
        default:
            return IBV_WC_GENERAL_ERR;
    }
}

ibv_wc_opcode wc_opcode(const siw_cqe &cqe)
{
    switch (cqe.opcode) {
        case SIW_OP_WRITE:
            return IBV_WC_RDMA_WRITE;
        case SIW_OP_READ:
        case SIW_OP_READ_LOCAL_INV:
            return IBV_WC_RDMA_READ;
        case SIW_OP_FETCH_AND_ADD:
            return IBV_WC_FETCH_ADD;
        case SIW_OP_COMP_AND_SWAP:
            return IBV_WC_COMP_SWAP;
        case SIW_OP_INVAL_STAG:
            return IBV_WC_LOCAL_INV;
        case SIW_OP_RECEIVE:
            return IBV_WC_RECV;
        default:
            return IBV_WC_SEND;
    }
}

unsigned int wc_flags(const siw_cqe &cqe)
{
    return (cqe.flags & SIW_WQE_REM_INVAL) != 0 ? IBV_WC_WITH_INV : 0;
}

int cq_poll(ibv_cq *ibcq, int num_entries, ibv_wc *wc)
{
    Cq &cq = *to_cq(ibcq);
    common::Locked locked(cq.lock);
    int count = 0;
    for (; count < num_entries && cq.ring.valid(cq.head); ++count, ++wc) {
        const siw_cqe &cqe = cq.ring.at(cq.head);
        *wc = ibv_wc{};
        wc->wr_id = cqe.id;
        wc->status = wc_status(cqe);
        wc->opcode = wc_opcode(cqe);
        wc->byte_len = cqe.bytes;
        wc->qp_num = static_cast<uint32_t>(cqe.qp_id);
        wc->wc_flags = wc_flags(cqe);
        if (wc->wc_flags != 0)
            wc->invalidated_rkey = cqe.inval_stag;
        cq.retire();
    }
    return count;
}

int cq_req_notify(ibv_cq *ibcq, int solicited_only)
{
    // The driver takes the request back when it has made the event. One for every completion outranks one for
    // solicited completions, whichever came first (IBTA 11.4.2.2).
    auto *control = static_cast<siw_cq_ctrl *>(to_cq(ibcq)->ring.trailer());
    const uint32_t wanted =
        solicited_only != 0 ? SIW_NOTIFY_SOLICITED : SIW_NOTIFY_SOLICITED | SIW_NOTIFY_NEXT_COMPLETION;
    std::atomic_ref<uint32_t>(control->flags).fetch_or(wanted);
    return 0;
}

}  // namespace siw
