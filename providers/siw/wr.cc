// SPDX-License-Identifier: BSD-2-Clause
// ibv_wr_*: posting through an extended QP, a call per operation and a call per part of it.
//
// Every function is there, since programs call them without looking; what siw lacks fails the batch.
#include "qp.hh"

namespace siw {
namespace {

/// The first error of a batch decides it; ibv_wr_complete tells.
void fail(SendQueue &sq, int error)
{
    if (sq.error == 0)
        sq.error = error;
    sq.sqe = nullptr;
}

void finish(SendQueue &sq)
{
    if (sq.sqe != nullptr)
        sq.finish();
}

/// Starts the next element of the batch; null if it or an earlier one failed.
SendQueue *start(ibv_qp_ex *qp, ibv_wr_opcode opcode)
{
    SendQueue &sq = to_qp(qp)->sq;
    finish(sq);
    if (sq.error != 0)
        return nullptr;
    const int error = sq.start(qp->wr_id, opcode, qp->wr_flags);
    if (error == 0)
        return &sq;
    fail(sq, error == ENOMEM ? ENOSPC : error);  // a full queue has another name here than in ibv_post_send
    return nullptr;
}

/// The queue, if an element is being written that may have data of this kind; else the batch fails.
SendQueue *current(ibv_qp_ex *qp, bool inlined)
{
    SendQueue &sq = to_qp(qp)->sq;
    if (sq.error == 0 && (sq.sqe == nullptr || sq.sqe->opcode == SIW_OP_INVAL_STAG ||
                          (inlined && sq.sqe->opcode == SIW_OP_READ)))
        fail(sq, EINVAL);
    return sq.error == 0 ? &sq : nullptr;
}

/// A setter or an operation that no QP of siw has.
void refuse(ibv_qp_ex *qp)
{
    fail(to_qp(qp)->sq, EINVAL);
}

void wr_send(ibv_qp_ex *qp)
{
    start(qp, IBV_WR_SEND);
}

void wr_send_imm(ibv_qp_ex *qp, __be32)
{
    refuse(qp);
}

void wr_send_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    if (const SendQueue *sq = start(qp, IBV_WR_SEND_WITH_INV))
        sq->set_invalidate(invalidate_rkey);
}

void wr_send_tso(ibv_qp_ex *qp, void *, uint16_t, uint16_t)
{
    refuse(qp);
}

void wr_rdma_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    if (const SendQueue *sq = start(qp, IBV_WR_RDMA_WRITE))
        sq->set_rdma(remote_addr, rkey);
}

void wr_rdma_write_imm(ibv_qp_ex *qp, uint32_t, uint64_t, __be32)
{
    refuse(qp);
}

void wr_rdma_read(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    if (const SendQueue *sq = start(qp, IBV_WR_RDMA_READ))
        sq->set_rdma(remote_addr, rkey);
}

void wr_atomic_cmp_swp(ibv_qp_ex *qp, uint32_t, uint64_t, uint64_t, uint64_t)
{
    refuse(qp);
}

void wr_atomic_fetch_add(ibv_qp_ex *qp, uint32_t, uint64_t, uint64_t)
{
    refuse(qp);
}

void wr_atomic_write(ibv_qp_ex *qp, uint32_t, uint64_t, const void *)
{
    refuse(qp);
}

void wr_flush(ibv_qp_ex *qp, uint32_t, uint64_t, size_t, uint8_t, uint8_t)
{
    refuse(qp);
}

void wr_local_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    if (const SendQueue *sq = start(qp, IBV_WR_LOCAL_INV))
        sq->set_invalidate(invalidate_rkey);
}

void wr_bind_mw(ibv_qp_ex *qp, ibv_mw *, uint32_t, const ibv_mw_bind_info *)
{
    refuse(qp);
}

void wr_set_ud_addr(ibv_qp_ex *qp, ibv_ah *, uint32_t, uint32_t)
{
    refuse(qp);
}

void wr_set_xrc_srqn(ibv_qp_ex *qp, uint32_t)
{
    refuse(qp);
}

void wr_set_sge_list(ibv_qp_ex *qp, size_t num_sge, const ibv_sge *sg_list)
{
    SendQueue *sq = current(qp, false);
    if (sq != nullptr && !sq->set_sges(sg_list, num_sge))
        fail(*sq, ENOSPC);
}

void wr_set_sge(ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const ibv_sge sge{.addr = addr, .length = length, .lkey = lkey};
    wr_set_sge_list(qp, 1, &sge);
}

void wr_set_inline_data_list(ibv_qp_ex *qp, size_t num_buf, const ibv_data_buf *buf_list)
{
    SendQueue *sq = current(qp, true);
    if (sq == nullptr)
        return;
    sq->inline_start();
    for (size_t i = 0; i < num_buf; ++i)
        if (!sq->inline_append(buf_list[i].addr, buf_list[i].length))
            return fail(*sq, ENOSPC);
}

void wr_set_inline_data(ibv_qp_ex *qp, void *addr, size_t length)
{
    const ibv_data_buf data{.addr = addr, .length = length};
    wr_set_inline_data_list(qp, 1, &data);
}

void wr_start(ibv_qp_ex *qp)
{
    SendQueue &sq = to_qp(qp)->sq;
    sq.lock.lock();
    sq.batch_start();
}

int wr_complete(ibv_qp_ex *ibqp)
{
    Qp &qp = *to_qp(ibqp);
    finish(qp.sq);
    const int error = qp.sq.error != 0 ? qp.sq.error : qp_submit(qp);
    qp.sq.lock.unlock();
    return error;
}

void wr_abort(ibv_qp_ex *qp)
{
    to_qp(qp)->sq.lock.unlock();
}

}  // namespace

void qp_ex_init(ibv_qp_ex &qp)
{
    qp.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    qp.wr_atomic_fetch_add = wr_atomic_fetch_add;
    qp.wr_bind_mw = wr_bind_mw;
    qp.wr_local_inv = wr_local_inv;
    qp.wr_rdma_read = wr_rdma_read;
    qp.wr_rdma_write = wr_rdma_write;
    qp.wr_rdma_write_imm = wr_rdma_write_imm;
    qp.wr_send = wr_send;
    qp.wr_send_imm = wr_send_imm;
    qp.wr_send_inv = wr_send_inv;
    qp.wr_send_tso = wr_send_tso;
    qp.wr_set_ud_addr = wr_set_ud_addr;
    qp.wr_set_xrc_srqn = wr_set_xrc_srqn;
    qp.wr_set_inline_data = wr_set_inline_data;
    qp.wr_set_inline_data_list = wr_set_inline_data_list;
    qp.wr_set_sge = wr_set_sge;
    qp.wr_set_sge_list = wr_set_sge_list;
    qp.wr_start = wr_start;
    qp.wr_complete = wr_complete;
    qp.wr_abort = wr_abort;
    qp.wr_atomic_write = wr_atomic_write;
    qp.wr_flush = wr_flush;
}

}  // namespace siw
