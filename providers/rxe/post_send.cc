// SPDX-License-Identifier: BSD-2-Clause
// ibv_post_send and ibv_bind_mw: a list of work requests into WQEs, and one system call for all of them.
#include <atomic>
#include <cerrno>
#include <cstring>

#include "qp.hh"

namespace rxe {
namespace {

/// The value of an atomic write: eight bytes, taken from the program's memory right away; false if there are not
/// as many.
bool gather_atomic_write(const ibv_send_wr &wr, char (&value)[8])
{
    size_t used = 0;
    for (int i = 0; i < wr.num_sge; ++i) {
        const ibv_sge &sge = wr.sg_list[i];
        if (sge.length > sizeof(value) - used)
            return false;
        std::memcpy(value + used, reinterpret_cast<const void *>(sge.addr), sge.length);
        used += sge.length;
    }
    return used == sizeof(value);
}

/// What the operation needs beside its data; 0 or an errno value.
[[gnu::noinline]] int set_operation(rxe_send_wqe &wqe, const ibv_send_wr &wr)
{
    switch (wr.opcode) {
        case IBV_WR_SEND_WITH_IMM:
            wqe_set_imm(wqe, wr.imm_data);
            return 0;
        case IBV_WR_SEND_WITH_INV:
        case IBV_WR_LOCAL_INV:
            wqe_set_invalidate(wqe, wr.invalidate_rkey);
            return 0;
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            wqe_set_imm(wqe, wr.imm_data);
            wqe_set_rdma(wqe, wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
            return 0;
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_READ:
            wqe_set_rdma(wqe, wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
            return 0;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
            wqe_set_atomic(wqe, wr.wr.atomic.remote_addr, wr.wr.atomic.rkey, wr.wr.atomic.compare_add,
                           wr.wr.atomic.swap);
            return 0;
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            wqe_set_atomic(wqe, wr.wr.atomic.remote_addr, wr.wr.atomic.rkey, wr.wr.atomic.compare_add, 0);
            return 0;
        case IBV_WR_ATOMIC_WRITE: {
            char value[8];
            if (!gather_atomic_write(wr, value))
                return EINVAL;
            wqe_set_atomic_write(wqe, wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, value);
            return 0;
        }
        case IBV_WR_BIND_MW:
            // Windows of type 1 are bound with ibv_bind_mw alone (IBTA 10.6.7.2.2).
            if (wr.bind_mw.mw->type != IBV_MW_TYPE_2)
                return EINVAL;
            wqe_set_bind(wqe, *wr.bind_mw.mw, wr.bind_mw.rkey, wr.bind_mw.bind_info);
            return 0;
        case IBV_WR_FLUSH:  // only ibv_wr_flush can say what to flush
            return EINVAL;
        default:
            return 0;
    }
}

/// The data itself, which lies in so many places; false where the queue has no room for it.
[[gnu::noinline]] bool set_inline_list(const SendQueue &sq, rxe_send_wqe &wqe, const ibv_sge *list, int count)
{
    uint32_t used = 0;
    for (const ibv_sge *const end = list + count; list != end; ++list)
        if (!sq.inline_append(wqe, used, reinterpret_cast<const void *>(list->addr), list->length))
            return false;
    wqe_set_inline(wqe, used);
    return true;
}

/// Where the data is, or the data itself.
[[gnu::always_inline]] inline bool set_data(const SendQueue &sq, rxe_send_wqe &wqe, const ibv_send_wr &wr)
{
    if (wr.num_sge < 0) [[unlikely]]
        return false;
    if ((wr.send_flags & IBV_SEND_INLINE) != 0)
        return wr.num_sge == 1 ? sq.set_inline(wqe, *wr.sg_list)
                               : set_inline_list(sq, wqe, wr.sg_list, wr.num_sge);
    if (wr.num_sge == 1) [[likely]]
        return sq.set_sge(wqe, wr.sg_list->lkey, wr.sg_list->addr, wr.sg_list->length);
    return sq.set_sges(wqe, wr.sg_list, static_cast<size_t>(wr.num_sge));
}

/// One WQE for one work request; 0 or an errno value.
[[gnu::always_inline]] inline int post_one(const SendQueue &sq, SendQueue::Tail tail, const ibv_send_wr &wr)
{
    // A program may hand in any number: until it is known to be an opcode, it is not one of the enum.
    uint32_t opcode;
    static_assert(sizeof opcode == sizeof wr.opcode);
    std::memcpy(&opcode, &wr.opcode, sizeof opcode);
    int error = 0;
    rxe_send_wqe *const wqe = sq.start(tail, wr.wr_id, opcode, wr.send_flags, error);
    if (wqe == nullptr) [[unlikely]]
        return error;
    const uint32_t op = operation(opcode);
    constexpr uint32_t kMayInline = kInlineOperations | operation(IBV_WR_ATOMIC_WRITE);
    if ((wr.send_flags & IBV_SEND_INLINE) != 0 && (op & kMayInline) == 0) [[unlikely]]
        return EINVAL;
    if (opcode == IBV_WR_RDMA_WRITE) {
        wqe_set_rdma(*wqe, wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
    } else if (opcode != IBV_WR_SEND) {
        error = set_operation(*wqe, wr);
        if (error != 0)
            return error;
    }
    if (sq.datagram)
        wqe_set_ud(*wqe, wr.wr.ud.ah, wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
    if ((op & kSgeOperations) != 0 && !set_data(sq, *wqe, wr))
        return EINVAL;
    return sq.is_request(op, wqe) ? 0 : EINVAL;
}

}  // namespace

void qp_doorbell_init(Qp &qp)
{
    Doorbell &doorbell = qp.doorbell;
    const ib_uverbs_cmd_hdr header = {.command = IB_USER_VERBS_CMD_POST_SEND,
                                      .in_words = sizeof doorbell.command / 4,
                                      .out_words = sizeof doorbell.response / 4};
    ib_uverbs_post_send request{};
    request.response = reinterpret_cast<uintptr_t>(&doorbell.response);
    request.qp_handle = qp.verbs.qp.handle;
    request.wqe_size = sizeof(ib_uverbs_send_wr);
    std::memcpy(doorbell.command, &header, sizeof header);
    std::memcpy(doorbell.command + sizeof header, &request, sizeof request);
}

int qp_ring_doorbell_otherwise(Qp &qp, SendQueue::Batch batch, ssize_t written)
{
    const bool was_refused = std::atomic_ref(qp.doorbell.is_refused).load(std::memory_order_relaxed);
    int error = was_refused ? EACCES : written < 0 ? errno : EIO;
    if (error == EACCES || error == ENOSYS) {
        // No write commands from this process, or at all: the library knows other ways.
        std::atomic_ref(qp.doorbell.is_refused).store(true, std::memory_order_relaxed);
        ibv_send_wr *ignored = nullptr;
        error = ibv_cmd_post_send(&qp.verbs.qp, nullptr, &ignored);
    }
    if (error == EINVAL) {
        // Left in the queue, it would be sent after requests that are posted later, once the QP can send.
        common::Locked locked(qp.sq.lock);
        qp.sq.withdraw(batch);
    }
    return error;
}

int qp_post_send(ibv_qp *ibqp, ibv_send_wr *wr, ibv_send_wr **bad_wr)
{
    Qp &qp = *to_qp(ibqp);
    if (wr == nullptr)
        return EINVAL;
    if (!qp_can_send(qp)) {
        *bad_wr = wr;
        return EINVAL;
    }
    ibv_send_wr *const first = wr;
    int error = 0;
    SendQueue::Batch batch;
    {
        common::Locked locked(qp.sq.lock);
        SendQueue::Tail tail = qp.sq.tail();
        batch.start = tail.index;
        do {
            error = post_one(qp.sq, tail, *wr);
            if (error != 0) [[unlikely]] {
                *bad_wr = wr;
                break;
            }
            tail = qp.sq.next(tail);
            wr = wr->next;
        } while (wr != nullptr);
        batch.end = tail.index;
        qp.sq.publish(tail);
    }
    if (batch.empty()) [[unlikely]]
        return error;
    const int doorbell_error = qp_ring_doorbell(qp, batch);
    if (doorbell_error == 0) [[likely]]
        return error;
    *bad_wr = first;
    return doorbell_error;
}

int qp_bind_mw(ibv_qp *ibqp, ibv_mw *mw, ibv_mw_bind *bind)
{
    Qp &qp = *to_qp(ibqp);
    if (!qp_can_send(qp) || (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0)
        return EINVAL;
    const uint32_t rkey = ibv_inc_rkey(mw->rkey);
    SendQueue::Batch batch;
    {
        common::Locked locked(qp.sq.lock);
        const SendQueue::Tail tail = qp.sq.tail();
        int error = 0;
        rxe_send_wqe *const wqe = qp.sq.start(tail, bind->wr_id, IBV_WR_BIND_MW, bind->send_flags, error);
        if (wqe == nullptr)
            return error;
        wqe_set_bind(*wqe, *mw, rkey, bind->bind_info);
        const SendQueue::Tail end = qp.sq.next(tail);
        batch = {.start = tail.index, .end = end.index};
        qp.sq.publish(end);
    }
    const int error = qp_ring_doorbell(qp, batch);
    if (error == 0)
        mw->rkey = rkey;
    return error;
}

}  // namespace rxe
