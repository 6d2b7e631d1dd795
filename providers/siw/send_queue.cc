// SPDX-License-Identifier: BSD-2-Clause
// Writing of send queue elements: what each operation puts where.
#include "send_queue.hh"

#include <cstring>

#include "sge.hh"

namespace siw {
namespace {

/// The driver's opcode for one of verbs; SIW_NUM_OPCODES if it has none.
uint8_t siw_opcode_of(uint32_t opcode)
{
    switch (opcode) {
        case IBV_WR_SEND:
            return SIW_OP_SEND;
        case IBV_WR_SEND_WITH_INV:
            return SIW_OP_SEND_REMOTE_INV;
        case IBV_WR_RDMA_WRITE:
            return SIW_OP_WRITE;
        case IBV_WR_RDMA_READ:
            return SIW_OP_READ;
        case IBV_WR_LOCAL_INV:
            return SIW_OP_INVAL_STAG;
        default:
            return SIW_NUM_OPCODES;
    }
}

}  // namespace

void SendQueue::batch_start()
{
    sqe = nullptr;
    end = tail;
    written = 0;
    error = 0;
}

bool SendQueue::batch_publish()
{
    if (written == 0)
        return false;
    const uint32_t before = ring.previous(tail);
    for (uint32_t i = 0; i < written; ++i, tail = ring.next(tail))
        ring.set_flags(tail, ring.at(tail).flags | SIW_WQE_VALID, std::memory_order_seq_cst);
    // As long as the driver has not taken the element in front of the batch, it comes by without being told. The
    // order is for the driver that is taking it just now: either it sees the batch, or we see that it took it.
    return written == ring.count() || !ring.valid(before, std::memory_order_seq_cst);
}

void SendQueue::batch_retract()
{
    for (; written != 0 && ring.valid(ring.previous(tail)); --written) {
        tail = ring.previous(tail);
        ring.set_flags(tail, 0);
    }
}

int SendQueue::start(uint64_t wr_id, uint32_t opcode, uint32_t send_flags)
{
    sqe = nullptr;
    const uint8_t siw_opcode = siw_opcode_of(opcode);
    if (siw_opcode == SIW_NUM_OPCODES)
        return EINVAL;
    if (written == ring.count() || ring.valid(end))
        return ENOMEM;
    sqe = &ring.at(end);
    std::memset(sqe, 0, offsetof(siw_sqe, sge) + sizeof(siw_sge));
    sqe->id = wr_id;
    sqe->opcode = siw_opcode;
    if (signal_all || (send_flags & IBV_SEND_SIGNALED) != 0)
        sqe->flags |= SIW_WQE_SIGNALLED;
    if ((send_flags & IBV_SEND_SOLICITED) != 0)
        sqe->flags |= SIW_WQE_SOLICITED;
    if ((send_flags & IBV_SEND_FENCE) != 0)
        sqe->flags |= SIW_WQE_READ_FENCE;
    return 0;
}

void SendQueue::set_rdma(uint64_t remote_addr, uint32_t rkey) const
{
    sqe->raddr = remote_addr;
    sqe->rkey = rkey;
}

bool SendQueue::set_sges(const ibv_sge *list, size_t count) const
{
    // A read has one sink (RFC 5040 section 4.4).
    if (count > (sqe->opcode == SIW_OP_READ ? 1 : max_sge))
        return false;
    sqe->flags &= static_cast<uint16_t>(~SIW_WQE_INLINE);
    sqe->num_sge = static_cast<uint8_t>(count);
    sge_copy(sqe->sge, list, count);
    return true;
}

void SendQueue::inline_start() const
{
    sqe->flags |= SIW_WQE_INLINE;
    sqe->num_sge = 1;
    sqe->sge[0] = {};
}

bool SendQueue::inline_append(const void *data, size_t length) const
{
    // The first SGE says how many bytes lie where the others would be.
    const uint32_t used = sqe->sge[0].length;
    if (length > SIW_MAX_INLINE - used)
        return false;
    if (length != 0)
        std::memcpy(reinterpret_cast<char *>(&sqe->sge[1]) + used, data, length);
    sqe->sge[0].length = used + static_cast<uint32_t>(length);
    return true;
}

void SendQueue::finish()
{
    sqe = nullptr;
    end = ring.next(end);
    ++written;
}

}  // namespace siw
