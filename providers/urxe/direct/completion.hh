// SPDX-License-Identifier: BSD-2-Clause
// Putting completions into a queue, one's own or a peer's.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "direct/memory.hh"
#include "process.hh"

namespace urxe::direct {

/// What goes into a completion.
struct NewCompletion {
    uint32_t qp, qp_generation;
    uint32_t request;
    uint32_t srq, srq_generation;
    uint32_t byte_len;
    uint32_t imm_data;
    uint32_t src_qp;
    uint32_t wc_flags;
    ibv_wc_status status;
    uint8_t opcode;
    shared::CompletionKind kind;
    uint8_t sl;
    bool is_solicited;
    uint32_t app_ctx;
    uint64_t tag;
};

enum class Pushed : uint8_t {
    kYes,
    kFault,    ///< the bytes to send along cannot be read; nothing was put in
    kOverrun,  ///< there is no room; the queue is in error from now on
};

/// What the queue waited for is there: its event is made, and no other until it is asked for. With the queue's lock held; who
/// calls it then writes a byte to the queue's channel.
inline void count_event(shared::CqEntry &cq)
{
    cq.untold = 0;
    cq.event_due.store(0, std::memory_order_relaxed);
    cq.armed.store(shared::Armed::kNo, std::memory_order_relaxed);
    cq.events.fetch_add(1, std::memory_order_release);
}

/// Puts a completion into a queue of `peer` and makes the event that the queue waits for. `grh` (if any) and the first
/// `inline_len` bytes of `data`, together at most kMaxInline bytes, go with it. Under an Access to the peer if that is
/// another process. IBTA 11.4.2.1.
Pushed push(Process &process, Peer &peer, shared::CqEntry &cq, const NewCompletion &completion,
            std::span<const uint8_t> grh = {}, std::span<const Piece> data = {}, uint32_t inline_len = 0);

}  // namespace urxe::direct
