// SPDX-License-Identifier: BSD-2-Clause
// Send requests: the queue that both ibv_post_send and ibv_wr_* write, WQE by WQE.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "common/lock.hh"
#include "queue.hh"
#include "sge.hh"

namespace rxe {

/// Operations as sets of bits, each at the number of its opcode.
constexpr uint32_t operation(uint32_t opcode)
{
    return opcode < 32 ? 1U << opcode : 0;
}

constexpr uint32_t kInlineOperations = operation(IBV_WR_SEND) | operation(IBV_WR_SEND_WITH_IMM) |
                                       operation(IBV_WR_SEND_WITH_INV) | operation(IBV_WR_RDMA_WRITE) |
                                       operation(IBV_WR_RDMA_WRITE_WITH_IMM);
constexpr uint32_t kAtomicOperations =
    operation(IBV_WR_ATOMIC_CMP_AND_SWP) | operation(IBV_WR_ATOMIC_FETCH_AND_ADD);
/// These need eight aligned bytes.
constexpr uint32_t kAlignedOperations = kAtomicOperations | operation(IBV_WR_ATOMIC_WRITE);
constexpr uint32_t kSgeOperations = kInlineOperations | operation(IBV_WR_RDMA_READ) | kAtomicOperations;

/// What a QP of a type can do on a device with these device_cap_flags_ex (IBTA 10.8.2).
uint32_t operations_of(ibv_qp_type type, uint64_t capabilities);

/// A send queue and the batch of WQEs that is being written to it. The driver sees none of them before publish(),
/// so a batch that fails is dropped by writing nothing. Whoever calls holds the lock.
///
/// Of each WQE: start(), then the setters for what its operation needs, then finish().
struct SendQueue {
    /// Requests that were published together.
    struct Batch {
        uint32_t start;
        uint32_t end;
        uint32_t ssn;  // in front of it
        bool empty() const { return start == end; }
    };

    Queue<rxe_send_wqe> ring;
    common::SpinLock lock;
    bool datagram;
    uint32_t operations;
    uint32_t checked;  // those of which not everything that can be set makes a request
    uint32_t max_sge;
    uint32_t max_inline;
    uint32_t ssn;  // of the WQE published last

    // The batch.
    rxe_send_wqe *wqe;  // being written, as long as `op` says so
    uint32_t op;        // its operation, as a set; empty where there is none
    uint32_t tail;      // where the next will lie
    uint32_t tail_ssn;
    int error;  // the first one; for ibv_wr_complete

    void batch_start()
    {
        op = 0;
        tail = ring.producer();
        tail_ssn = ssn;
        error = 0;
    }
    /// Shows the batch to the driver.
    Batch batch_publish()
    {
        const Batch batch{.start = ring.producer(), .end = tail, .ssn = ssn};
        ssn = tail_ssn;
        ring.publish(tail);
        return batch;
    }
    /// Takes a batch back that the driver does not look at, unless others were published behind it.
    void batch_withdraw(const Batch &batch);

    /// 0; EINVAL: the QP has no such operation; ENOMEM: the queue is full.
    int start(uint64_t wr_id, uint32_t opcode, uint32_t send_flags)
    {
        const uint32_t wanted = operations & operation(opcode);
        op = 0;
        if (wanted == 0) [[unlikely]]
            return EINVAL;
        const Queue<rxe_send_wqe> queue = ring;  // in registers, whatever is stored to WQEs
        const uint32_t index = tail;
        if (queue.full(index)) [[unlikely]]
            return ENOMEM;
        rxe_send_wqe *const added = queue.at(index);
        if (datagram) {
            *added = rxe_send_wqe{};
        } else {
            // Not the place of the address vector, which is half of a WQE: without addresses it stays as zero as it was.
            std::memset(static_cast<void *>(added), 0, offsetof(rxe_send_wqe, wr.wr.ud.av));
            std::memset(&added->status, 0, sizeof *added - offsetof(rxe_send_wqe, status));
        }
        added->wr.wr_id = wr_id;
        added->wr.opcode = opcode;
        added->wr.send_flags = send_flags & ~uint32_t{IBV_SEND_INLINE};  // inline_start() sets it
        added->ssn = tail_ssn++;
        op = wanted;
        wqe = added;
        tail = queue.next(index);
        return 0;
    }
    /// Takes the WQE that start() gave out of the batch again, if it gave one.
    void drop()
    {
        if (op == 0)
            return;
        op = 0;
        --tail_ssn;
        tail = (tail - 1) & ring.mask();
    }
    void set_imm(__be32 imm_data) const { wqe->wr.ex.imm_data = imm_data; }
    void set_invalidate(uint32_t rkey) const { wqe->wr.ex.invalidate_rkey = rkey; }
    void set_rdma(uint64_t remote_addr, uint32_t rkey) const
    {
        wqe->iova = remote_addr;
        wqe->wr.wr.rdma.remote_addr = remote_addr;
        wqe->wr.wr.rdma.rkey = rkey;
    }
    void set_atomic(uint64_t remote_addr, uint32_t rkey, uint64_t compare_add, uint64_t swap) const;
    void set_atomic_write(uint64_t remote_addr, uint32_t rkey, const void *value) const;
    void set_flush(uint64_t remote_addr, uint32_t rkey, uint32_t length, uint8_t type, uint8_t level) const;
    void set_bind(const ibv_mw &mw, uint32_t rkey, const ibv_mw_bind_info &info) const;
    void set_ud(const ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey) const;
    /// These answer whether the queue has room for so many SGEs or bytes in a WQE.
    bool set_sges(const ibv_sge *list, size_t count) const
    {
        if (count > max_sge)
            return false;
        const uint64_t length = sge_copy(wqe->dma, list, static_cast<uint32_t>(count));
        if (length > UINT32_MAX)
            return false;
        wqe->wr.send_flags &= ~uint32_t{IBV_SEND_INLINE};
        wqe->dma.num_sge = static_cast<uint32_t>(count);
        set_length(*wqe, static_cast<uint32_t>(length));
        return true;
    }
    bool set_sge(uint32_t lkey, uint64_t addr, uint32_t length) const
    {
        if (max_sge == 0)
            return false;
        reinterpret_cast<ibv_sge &>(*(wqe + 1)) = {.addr = addr, .length = length, .lkey = lkey};
        wqe->wr.send_flags &= ~uint32_t{IBV_SEND_INLINE};
        wqe->dma.num_sge = 1;
        set_length(*wqe, length);
        return true;
    }
    void inline_start() const;
    bool inline_append(const void *data, size_t length) const;
    /// Ends the WQE, if there is one: 0, or EINVAL if what was set does not make a request.
    int finish()
    {
        if ((op & checked) != 0 && !is_whole()) [[unlikely]]
            return EINVAL;
        op = 0;
        return 0;
    }

private:
    static void set_length(rxe_send_wqe &wqe, uint32_t length)
    {
        wqe.dma.length = length;
        wqe.dma.resid = length;
    }
    bool is_whole() const;
};

}  // namespace rxe
