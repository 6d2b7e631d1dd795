// SPDX-License-Identifier: BSD-2-Clause
// ibv_post_send and ibv_bind_mw: a list of work requests into WQEs, and one system call for all of them.
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
int set_operation(const SendQueue &sq, const ibv_send_wr &wr)
{
    switch (wr.opcode) {
        case IBV_WR_SEND_WITH_IMM:
            sq.set_imm(wr.imm_data);
            return 0;
        case IBV_WR_SEND_WITH_INV:
        case IBV_WR_LOCAL_INV:
            sq.set_invalidate(wr.invalidate_rkey);
            return 0;
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            sq.set_imm(wr.imm_data);
            sq.set_rdma(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
            return 0;
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_READ:
            sq.set_rdma(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
            return 0;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
            sq.set_atomic(wr.wr.atomic.remote_addr, wr.wr.atomic.rkey, wr.wr.atomic.compare_add,
                          wr.wr.atomic.swap);
            return 0;
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            sq.set_atomic(wr.wr.atomic.remote_addr, wr.wr.atomic.rkey, wr.wr.atomic.compare_add, 0);
            return 0;
        case IBV_WR_ATOMIC_WRITE: {
            char value[8];
            if (!gather_atomic_write(wr, value))
                return EINVAL;
            sq.set_atomic_write(wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, value);
            return 0;
        }
        case IBV_WR_BIND_MW:
            // Windows of type 1 are bound with ibv_bind_mw alone (IBTA 10.6.7.2.2).
            if (wr.bind_mw.mw->type != IBV_MW_TYPE_2)
                return EINVAL;
            sq.set_bind(*wr.bind_mw.mw, wr.bind_mw.rkey, wr.bind_mw.bind_info);
            return 0;
        case IBV_WR_FLUSH:  // only ibv_wr_flush can say what to flush
            return EINVAL;
        default:
            return 0;
    }
}

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

/// One WQE for one work request; 0 or an errno value.
int post_one(SendQueue &sq, const ibv_send_wr &wr)
{
    // A program may hand in any number: until it is known to be an opcode, it is not one of the enum.
    uint32_t opcode;
    static_assert(sizeof opcode == sizeof wr.opcode);
    std::memcpy(&opcode, &wr.opcode, sizeof opcode);
    int error = sq.start(wr.wr_id, opcode, wr.send_flags);
    if (error != 0)
        return error;
    const uint32_t op = operation(opcode);
    constexpr uint32_t kMayInline = kInlineOperations | operation(IBV_WR_ATOMIC_WRITE);
    if ((wr.send_flags & IBV_SEND_INLINE) != 0 && (op & kMayInline) == 0)
        return EINVAL;
    error = set_operation(sq, wr);
    if (error != 0)
        return error;
    if (sq.datagram)
        sq.set_ud(wr.wr.ud.ah, wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
    if ((op & kSgeOperations) != 0 && !set_data(sq, wr))
        return EINVAL;
    return sq.finish();
}

}  // namespace

bool qp_can_send(const Qp &qp)
{
    return qp.verbs.qp.state >= IBV_QPS_RTS;
}

int qp_ring_doorbell(Qp &qp, SendQueue::Batch batch)
{
    ibv_send_wr *ignored = nullptr;
    const int error = ibv_cmd_post_send(&qp.verbs.qp, nullptr, &ignored);
    if (error == EINVAL) [[unlikely]] {
        // Left in the queue, it would be sent after requests that are posted later, once the QP can send.
        common::Locked locked(qp.sq.lock);
        qp.sq.batch_withdraw(batch);
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
        qp.sq.batch_start();
        for (; wr != nullptr; wr = wr->next) {
            error = post_one(qp.sq, *wr);
            if (error != 0) [[unlikely]] {
                qp.sq.drop();
                *bad_wr = wr;
                break;
            }
        }
        batch = qp.sq.batch_publish();
    }
    if (batch.empty())
        return error;
    const int doorbell_error = qp_ring_doorbell(qp, batch);
    if (doorbell_error != 0) {
        *bad_wr = first;
        return doorbell_error;
    }
    return error;
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
        qp.sq.batch_start();
        int error = qp.sq.start(bind->wr_id, IBV_WR_BIND_MW, bind->send_flags);
        if (error != 0)
            return error;
        qp.sq.set_bind(*mw, rkey, bind->bind_info);
        error = qp.sq.finish();
        if (error != 0)
            return error;
        batch = qp.sq.batch_publish();
    }
    const int error = qp_ring_doorbell(qp, batch);
    if (error == 0)
        mw->rkey = rkey;
    return error;
}

}  // namespace rxe
