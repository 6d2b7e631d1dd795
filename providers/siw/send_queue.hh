// SPDX-License-Identifier: BSD-2-Clause
// Send requests: the queue that both ibv_post_send and ibv_wr_* write, element by element.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/siw-abi.h>

#include "common/lock.hh"
#include "ring.hh"

namespace siw {

/// What siw can do with a QP, as IBV_QP_EX_WITH_*.
constexpr uint64_t kSendOperations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV |
                                     IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
                                     IBV_QP_EX_WITH_LOCAL_INV;

/// A send queue and the batch of elements that is being written to it. The driver sees none of them before
/// publish(), so a batch that fails is dropped by writing nothing. Whoever calls holds the lock.
///
/// Of each element: start(), then the setters for what its operation needs, then finish().
struct SendQueue {
    Ring<siw_sqe> ring;
    common::Mutex lock;  // held across the doorbell: a batch that the driver refuses is taken back
    uint32_t max_sge;
    uint32_t tail;  // where the next batch begins
    bool signal_all;

    // The batch.
    siw_sqe *sqe;      // being written; null if there is none
    uint32_t end;      // where it lies, or the next will
    uint32_t written;  // how many are ready
    int error;         // the first one; for ibv_wr_complete

    void batch_start();
    /// Gives the batch to the driver; whether that has to be told.
    bool batch_publish();
    /// Takes back what the driver has not taken.
    void batch_retract();

    /// 0; EINVAL: there is no such operation; ENOMEM: the queue is full.
    int start(uint64_t wr_id, uint32_t opcode, uint32_t send_flags);
    void set_invalidate(uint32_t rkey) const { sqe->rkey = rkey; }
    void set_rdma(uint64_t remote_addr, uint32_t rkey) const;
    /// These answer whether an element has room for so many SGEs or bytes.
    bool set_sges(const ibv_sge *list, size_t count) const;
    void inline_start() const;
    bool inline_append(const void *data, size_t length) const;
    /// Takes the element into the batch.
    void finish();
};

}  // namespace siw
