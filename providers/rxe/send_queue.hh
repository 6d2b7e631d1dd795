// SPDX-License-Identifier: BSD-2-Clause
// Send requests: the queue that both ibv_post_send and ibv_wr_* write, WQE by WQE.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "common/lock.hh"
#include "queue.hh"

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
    uint32_t max_sge;
    uint32_t max_inline;
    uint32_t ssn;  // of the WQE published last

    // The batch.
    rxe_send_wqe *wqe;  // being written; null if there is none
    uint32_t tail;      // where it lies, or the next will
    uint32_t tail_ssn;
    int error;  // the first one; for ibv_wr_complete

    void batch_start();
    /// Shows the batch to the driver.
    Batch batch_publish();
    /// Takes a batch back that the driver does not look at, unless others were published behind it.
    void batch_withdraw(const Batch &batch);

    /// 0; EINVAL: the QP has no such operation; ENOMEM: the queue is full.
    int start(uint64_t wr_id, uint32_t opcode, uint32_t send_flags);
    void set_imm(__be32 imm_data) const { wqe->wr.ex.imm_data = imm_data; }
    void set_invalidate(uint32_t rkey) const { wqe->wr.ex.invalidate_rkey = rkey; }
    void set_rdma(uint64_t remote_addr, uint32_t rkey) const;
    void set_atomic(uint64_t remote_addr, uint32_t rkey, uint64_t compare_add, uint64_t swap) const;
    void set_atomic_write(uint64_t remote_addr, uint32_t rkey, const void *value) const;
    void set_flush(uint64_t remote_addr, uint32_t rkey, uint32_t length, uint8_t type, uint8_t level) const;
    void set_bind(const ibv_mw &mw, uint32_t rkey, const ibv_mw_bind_info &info) const;
    void set_ud(const ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey) const;
    /// These answer whether the queue has room for so many SGEs or bytes in a WQE.
    bool set_sges(const ibv_sge *list, size_t count) const;
    void inline_start() const;
    bool inline_append(const void *data, size_t length) const;
    /// Takes the WQE into the batch; 0, or EINVAL if what was set does not make a request.
    int finish();
};

}  // namespace rxe
