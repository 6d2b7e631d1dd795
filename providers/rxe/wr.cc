// SPDX-License-Identifier: BSD-2-Clause
// ibv_wr_*: posting through an extended QP, a call per operation and a call per part of it.
#include "qp.hh"

namespace rxe {
namespace {

/// The first error of a batch decides it; ibv_wr_complete tells.
[[gnu::cold]] void fail(SendQueue &sq, int error)
{
    if (sq.error == 0)
        sq.error = error;
    sq.op = 0;
}

[[gnu::always_inline]] inline void finish(SendQueue &sq)
{
    const int error = sq.finish();
    if (error != 0) [[unlikely]]
        fail(sq, error);
}

/// Starts the next WQE of the batch; null if it or an earlier one failed.
[[gnu::always_inline]] inline SendQueue *start(ibv_qp_ex *qp, ibv_wr_opcode opcode)
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

/// The queue, if its current WQE is of one of the operations; a setter for another one fails the batch.
[[gnu::always_inline]] inline SendQueue *current(ibv_qp_ex *qp, uint32_t operations)
{
    SendQueue &sq = to_qp(qp)->sq;
    if ((operations & sq.op) != 0) [[likely]]
        return &sq;
    fail(sq, EINVAL);
    return nullptr;
}

void wr_send(ibv_qp_ex *qp)
{
    start(qp, IBV_WR_SEND);
}

void wr_send_imm(ibv_qp_ex *qp, __be32 imm_data)
{
    if (const SendQueue *sq = start(qp, IBV_WR_SEND_WITH_IMM))
        sq->set_imm(imm_data);
}

void wr_send_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    if (const SendQueue *sq = start(qp, IBV_WR_SEND_WITH_INV))
        sq->set_invalidate(invalidate_rkey);
}

void wr_send_tso(ibv_qp_ex *qp, void *, uint16_t, uint16_t)
{
    start(qp, IBV_WR_TSO);  // no QP of rxe has it
}

void wr_rdma_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    if (const SendQueue *sq = start(qp, IBV_WR_RDMA_WRITE))
        sq->set_rdma(remote_addr, rkey);
}

void wr_rdma_write_imm(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
    if (const SendQueue *sq = start(qp, IBV_WR_RDMA_WRITE_WITH_IMM)) {
        sq->set_rdma(remote_addr, rkey);
        sq->set_imm(imm_data);
    }
}

void wr_rdma_read(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    if (const SendQueue *sq = start(qp, IBV_WR_RDMA_READ))
        sq->set_rdma(remote_addr, rkey);
}

void wr_atomic_cmp_swp(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
    if (const SendQueue *sq = start(qp, IBV_WR_ATOMIC_CMP_AND_SWP))
        sq->set_atomic(remote_addr, rkey, compare, swap);
}

void wr_atomic_fetch_add(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
    if (const SendQueue *sq = start(qp, IBV_WR_ATOMIC_FETCH_AND_ADD))
        sq->set_atomic(remote_addr, rkey, add, 0);
}

void wr_atomic_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *value)
{
    if (const SendQueue *sq = start(qp, IBV_WR_ATOMIC_WRITE))
        sq->set_atomic_write(remote_addr, rkey, value);
}

void wr_flush(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t length, uint8_t type, uint8_t level)
{
    SendQueue *sq = start(qp, IBV_WR_FLUSH);
    if (sq == nullptr)
        return;
    if (length > UINT32_MAX)
        return fail(*sq, EINVAL);
    sq->set_flush(remote_addr, rkey, static_cast<uint32_t>(length), type, level);
}

void wr_local_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    if (const SendQueue *sq = start(qp, IBV_WR_LOCAL_INV))
        sq->set_invalidate(invalidate_rkey);
}

void wr_bind_mw(ibv_qp_ex *qp, ibv_mw *mw, uint32_t rkey, const ibv_mw_bind_info *bind_info)
{
    SendQueue *sq = start(qp, IBV_WR_BIND_MW);
    if (sq == nullptr)
        return;
    if (mw->type != IBV_MW_TYPE_2)
        return fail(*sq, EINVAL);
    sq->set_bind(*mw, rkey, *bind_info);
}

void wr_set_ud_addr(ibv_qp_ex *qp, ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
    SendQueue *sq = current(qp, kInlineOperations);
    if (sq == nullptr)
        return;
    if (!sq->datagram)
        return fail(*sq, EINVAL);
    sq->set_ud(ah, remote_qpn, remote_qkey);
}

void wr_set_xrc_srqn(ibv_qp_ex *qp, uint32_t)
{
    current(qp, 0);  // no QP of rxe has it
}

void wr_set_sge_list(ibv_qp_ex *qp, size_t num_sge, const ibv_sge *sg_list)
{
    SendQueue *sq = current(qp, kSgeOperations);
    if (sq != nullptr && !sq->set_sges(sg_list, num_sge))
        fail(*sq, ENOSPC);
}

void wr_set_sge(ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    SendQueue *sq = current(qp, kSgeOperations);
    if (sq != nullptr && !sq->set_sge(lkey, addr, length))
        fail(*sq, ENOSPC);
}

void wr_set_inline_data_list(ibv_qp_ex *qp, size_t num_buf, const ibv_data_buf *buf_list)
{
    SendQueue *sq = current(qp, kInlineOperations);
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
    if (!qp_can_send(*to_qp(qp)))
        fail(sq, EINVAL);
}

int wr_complete(ibv_qp_ex *ibqp)
{
    Qp &qp = *to_qp(ibqp);
    finish(qp.sq);
    const int error = qp.sq.error;
    SendQueue::Batch batch{};
    if (error == 0)
        batch = qp.sq.batch_publish();
    qp.sq.lock.unlock();
    return batch.empty() ? error : qp_ring_doorbell(qp, batch);
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

}  // namespace rxe
