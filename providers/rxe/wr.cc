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

/// Ends the WQE, if there is one.
[[gnu::always_inline]] inline void finish(SendQueue &sq)
{
    if (!sq.is_request(sq.op, sq.wqe)) [[unlikely]]
        fail(sq, EINVAL);
}

/// Adds the next WQE to the batch, unless it or an earlier one failed, and has `set` put into it what the operation needs.
template <class Set>
[[gnu::always_inline]] inline void add(ibv_qp_ex *qp, ibv_wr_opcode opcode, Set set)
{
    SendQueue &sq = to_qp(qp)->sq;
    if (sq.error != 0) [[unlikely]]
        return;
    const SendQueue::Tail tail = sq.batch_tail;
    int error = 0;
    rxe_send_wqe *const wqe = sq.start(tail, qp->wr_id, opcode, qp->wr_flags, error);
    if (wqe == nullptr) [[unlikely]]
        // A full queue has another name here than in ibv_post_send.
        return fail(sq, error == ENOMEM ? ENOSPC : error);
    sq.wqe = wqe;
    sq.op = operation(opcode);
    sq.batch_tail = sq.next(tail);
    set(*wqe);
}

/// The same where the WQE in front has to be checked: apart, so that others need not save registers for that.
template <class Set>
[[gnu::noinline]] void check_and_add(ibv_qp_ex *qp, ibv_wr_opcode opcode, Set set)
{
    finish(to_qp(qp)->sq);
    add(qp, opcode, set);
}

/// Ends the WQE in front and adds the next.
template <class Set>
[[gnu::always_inline]] inline void start(ibv_qp_ex *qp, ibv_wr_opcode opcode, Set set)
{
    const SendQueue &sq = to_qp(qp)->sq;
    if ((sq.op & sq.checked) != 0) [[unlikely]]
        return check_and_add(qp, opcode, set);
    add(qp, opcode, set);
}

[[gnu::always_inline]] inline void start(ibv_qp_ex *qp, ibv_wr_opcode opcode)
{
    start(qp, opcode, [](rxe_send_wqe &) {});
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
    start(qp, IBV_WR_SEND_WITH_IMM, [=](rxe_send_wqe &wqe) { wqe_set_imm(wqe, imm_data); });
}

void wr_send_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    start(qp, IBV_WR_SEND_WITH_INV, [=](rxe_send_wqe &wqe) { wqe_set_invalidate(wqe, invalidate_rkey); });
}

void wr_send_tso(ibv_qp_ex *qp, void *, uint16_t, uint16_t)
{
    start(qp, IBV_WR_TSO);  // no QP of rxe has it
}

void wr_rdma_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    start(qp, IBV_WR_RDMA_WRITE, [=](rxe_send_wqe &wqe) { wqe_set_rdma(wqe, remote_addr, rkey); });
}

void wr_rdma_write_imm(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
    start(qp, IBV_WR_RDMA_WRITE_WITH_IMM, [=](rxe_send_wqe &wqe) {
        wqe_set_rdma(wqe, remote_addr, rkey);
        wqe_set_imm(wqe, imm_data);
    });
}

void wr_rdma_read(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    start(qp, IBV_WR_RDMA_READ, [=](rxe_send_wqe &wqe) { wqe_set_rdma(wqe, remote_addr, rkey); });
}

void wr_atomic_cmp_swp(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
    start(qp, IBV_WR_ATOMIC_CMP_AND_SWP,
          [=](rxe_send_wqe &wqe) { wqe_set_atomic(wqe, remote_addr, rkey, compare, swap); });
}

void wr_atomic_fetch_add(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
    start(qp, IBV_WR_ATOMIC_FETCH_AND_ADD,
          [=](rxe_send_wqe &wqe) { wqe_set_atomic(wqe, remote_addr, rkey, add, 0); });
}

void wr_atomic_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *value)
{
    start(qp, IBV_WR_ATOMIC_WRITE,
          [=](rxe_send_wqe &wqe) { wqe_set_atomic_write(wqe, remote_addr, rkey, value); });
}

void wr_flush(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t length, uint8_t type, uint8_t level)
{
    start(qp, IBV_WR_FLUSH, [=](rxe_send_wqe &wqe) {
        if (length > UINT32_MAX)
            return fail(to_qp(qp)->sq, EINVAL);
        wqe_set_flush(wqe, remote_addr, rkey, static_cast<uint32_t>(length), type, level);
    });
}

void wr_local_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    start(qp, IBV_WR_LOCAL_INV, [=](rxe_send_wqe &wqe) { wqe_set_invalidate(wqe, invalidate_rkey); });
}

void wr_bind_mw(ibv_qp_ex *qp, ibv_mw *mw, uint32_t rkey, const ibv_mw_bind_info *bind_info)
{
    start(qp, IBV_WR_BIND_MW, [=](rxe_send_wqe &wqe) {
        if (mw->type != IBV_MW_TYPE_2)
            return fail(to_qp(qp)->sq, EINVAL);
        wqe_set_bind(wqe, *mw, rkey, *bind_info);
    });
}

void wr_set_ud_addr(ibv_qp_ex *qp, ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
    SendQueue *sq = current(qp, kInlineOperations);
    if (sq == nullptr)
        return;
    if (!sq->datagram)
        return fail(*sq, EINVAL);
    wqe_set_ud(*sq->wqe, ah, remote_qpn, remote_qkey);
}

void wr_set_xrc_srqn(ibv_qp_ex *qp, uint32_t)
{
    current(qp, 0);  // no QP of rxe has it
}

void wr_set_sge_list(ibv_qp_ex *qp, size_t num_sge, const ibv_sge *sg_list)
{
    SendQueue *sq = current(qp, kSgeOperations);
    if (sq != nullptr && !sq->set_sges(*sq->wqe, sg_list, num_sge))
        fail(*sq, ENOSPC);
}

void wr_set_sge(ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    SendQueue *sq = current(qp, kSgeOperations);
    if (sq != nullptr && !sq->set_sge(*sq->wqe, lkey, addr, length))
        fail(*sq, ENOSPC);
}

void wr_set_inline_data_list(ibv_qp_ex *qp, size_t num_buf, const ibv_data_buf *buf_list)
{
    SendQueue *sq = current(qp, kInlineOperations);
    if (sq == nullptr)
        return;
    uint32_t used = 0;
    for (size_t i = 0; i < num_buf; ++i)
        if (!sq->inline_append(*sq->wqe, used, buf_list[i].addr, buf_list[i].length))
            return fail(*sq, ENOSPC);
    wqe_set_inline(*sq->wqe, used);
}

void wr_set_inline_data(ibv_qp_ex *qp, void *addr, size_t length)
{
    const ibv_data_buf data{.addr = addr, .length = length};
    wr_set_inline_data_list(qp, 1, &data);
}

/// Starts a batch, under the lock.
[[gnu::always_inline]] inline void batch_init(Qp &qp)
{
    SendQueue &sq = qp.sq;
    sq.op = 0;
    sq.error = qp_can_send(qp) ? 0 : EINVAL;
    sq.batch_tail = sq.tail();
    sq.batch_start = sq.batch_tail.index;
}

/// wr_start where the lock may have to be waited for: apart, so that the usual case need not save registers for that.
[[gnu::noinline]] void lock_and_init(Qp &qp)
{
    qp.sq.lock.lock();
    batch_init(qp);
}

void wr_start(ibv_qp_ex *ibqp)
{
    Qp &qp = *to_qp(ibqp);
    if (!qp.sq.lock.try_lock()) [[unlikely]]
        return lock_and_init(qp);
    batch_init(qp);
}

int wr_complete(ibv_qp_ex *ibqp)
{
    Qp &qp = *to_qp(ibqp);
    SendQueue &sq = qp.sq;
    finish(sq);
    sq.op = 0;
    const int error = sq.error;
    SendQueue::Batch batch{};
    if (error == 0) [[likely]] {
        batch = {.start = sq.batch_start, .end = sq.batch_tail.index};
        sq.publish(sq.batch_tail);
    }
    sq.lock.unlock();
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
