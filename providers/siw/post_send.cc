// SPDX-License-Identifier: BSD-2-Clause
// ibv_post_send: a list of work requests into queue elements, and one system call for all of them.
#include <cstring>

#include "qp.hh"

namespace siw {
namespace {

bool set_data(const SendQueue &sq, const ibv_send_wr &wr)
{
    if (wr.num_sge < 0)
        return false;
    if ((wr.send_flags & IBV_SEND_INLINE) == 0)
        return sq.set_sges(wr.sg_list, static_cast<size_t>(wr.num_sge));
    sq.inline_start();
    for (int i = 0; i < wr.num_sge; ++i) {
        const ibv_sge &sge = wr.sg_list[i];
        if (!sq.inline_append(reinterpret_cast<const void *>(sge.addr), sge.length))
            return false;
    }
    return true;
}

/// One element for one work request; 0 or an errno value.
int post_one(SendQueue &sq, const ibv_send_wr &wr)
{
    // A program may hand in any number: until it is known to be an opcode, it is not one of the enum.
    uint32_t opcode;
    static_assert(sizeof opcode == sizeof wr.opcode);
    std::memcpy(&opcode, &wr.opcode, sizeof opcode);
    const int error = sq.start(wr.wr_id, opcode, wr.send_flags);
    if (error != 0)
        return error;
    if ((wr.send_flags & IBV_SEND_INLINE) != 0 && (opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_LOCAL_INV))
        return EINVAL;
    if (opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_LOCAL_INV)
        sq.set_invalidate(wr.invalidate_rkey);
    else if (opcode != IBV_WR_SEND)
        sq.set_rdma(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
    if (opcode != IBV_WR_LOCAL_INV && !set_data(sq, wr))
        return EINVAL;
    sq.finish();
    return 0;
}

}  // namespace

int qp_submit(Qp &qp)
{
    if (!qp.sq.batch_publish())
        return 0;
    ibv_send_wr *ignored = nullptr;
    const int error = ibv_cmd_post_send(&qp.verbs.qp, nullptr, &ignored);
    if (error != 0)
        qp.sq.batch_retract();
    return error;
}

int qp_post_send(ibv_qp *ibqp, ibv_send_wr *wr, ibv_send_wr **bad_wr)
{
    if (wr == nullptr)
        return EINVAL;
    Qp &qp = *to_qp(ibqp);
    ibv_send_wr *const first = wr;
    int error = 0;
    common::Locked locked(qp.sq.lock);
    qp.sq.batch_start();
    for (; wr != nullptr && error == 0; wr = wr->next) {
        error = post_one(qp.sq, *wr);
        if (error != 0)
            *bad_wr = wr;
    }
    const int submit_error = qp_submit(qp);
    if (submit_error == 0)
        return error;
    *bad_wr = first;
    return submit_error;
}

}  // namespace siw
