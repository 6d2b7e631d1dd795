// SPDX-License-Identifier: BSD-2-Clause
// Putting completions into a queue, one's own or a peer's.
#include "direct/completion.hh"

#include <cstring>

#include <algorithm>

namespace urxe::direct {

using shared::Armed;
using shared::Completion;
using shared::CqEntry;
using shared::Fences;

namespace {

/// Whether a completion makes the event of a queue that waits for any. If not, the first of several may start the time after
/// which the owner makes it.
bool is_event_due(CqEntry &cq, bool &starts_time)
{
    const uint32_t count = shared::once(cq.event_count), period = shared::once(cq.event_period);
    if (count == 0 && period == 0) [[likely]]
        return true;
    // A full queue takes no more: that is as many as there will be.
    const uint32_t enough = count == 0 ? cq.limit : std::min(count, cq.limit);
    if (++cq.untold >= enough)
        return true;
    if (period != 0 && cq.event_due.load(std::memory_order_relaxed) == 0) {
        cq.event_due.store(now_ns() + uint64_t{period} * 1000, std::memory_order_seq_cst);
        starts_time = true;
    }
    return false;
}

}  // namespace

Pushed push(Process &process, Peer &peer, CqEntry &cq, const NewCompletion &completion,
            std::span<const uint8_t> grh, std::span<const Piece> data, uint32_t inline_len)
{
    bool makes_event = false, starts_time = false;
    shared::PipeEnd channel;
    {
        const shared::SharedLocked locked(cq.lock);
        const uint32_t mask = shared::once(cq.mask);
        const shared::Offset place = shared::once(cq.ring);
        uint32_t produced = cq.produced.load(std::memory_order_relaxed);
        auto *ring =
            static_cast<Completion *>(place % alignof(Completion) != 0
                                          ? nullptr
                                          : peer.heap.at(place, (uint64_t{mask} + 1) * sizeof(Completion)));
        if (ring == nullptr || !locked.is_whole()) [[unlikely]] {
            cq.overrun.store(1, std::memory_order_release);
            return Pushed::
                kOverrun;  // It makes no sense: somebody wrote over it, or has stopped in the middle.
        }
        // Who claimed a place and did not count it died, after it was filled or before.
        if (cq.claimed != produced &&
            ring[produced & mask].sequence.load(std::memory_order_relaxed) == produced + 1) [[unlikely]]
            ++produced;
        // The owner's line is only fetched when it matters.
        if (produced - cq.consumed_before >= cq.limit)
            cq.consumed_before = cq.consumed.load(std::memory_order_acquire);
        if (produced - cq.consumed_before >= cq.limit) [[unlikely]] {
            cq.overrun.store(1, std::memory_order_release);
            return Pushed::kOverrun;
        }
        Completion &slot = ring[produced & mask];
        uint8_t *bytes = slot.data;
        if (!grh.empty()) {
            std::memcpy(bytes, grh.data(), grh.size());
            bytes += grh.size();
        }
        if (inline_len != 0 && gather(process.self, bytes, data, inline_len) != Copied::kAll) [[unlikely]]
            return Pushed::kFault;
        slot.qp = completion.qp;
        slot.qp_generation = completion.qp_generation;
        slot.request = completion.request;
        slot.srq = completion.srq;
        slot.srq_generation = completion.srq_generation;
        slot.byte_len = completion.byte_len;
        slot.imm_data = completion.imm_data;
        slot.src_qp = completion.src_qp;
        slot.wc_flags = static_cast<uint8_t>(completion.wc_flags);
        slot.status = static_cast<uint8_t>(completion.status);
        slot.opcode = completion.opcode;
        slot.kind = completion.kind;
        slot.sl = completion.sl;
        slot.app_ctx = completion.app_ctx;
        slot.tag = completion.tag;
        slot.inline_len = static_cast<uint8_t>(grh.size() + inline_len);
        slot.timestamp = cq.wants_timestamps != 0 ? now_ns() : 0;
        cq.claimed = produced + 1;
        slot.sequence.store(produced + 1, std::memory_order_release);
        cq.produced.store(produced + 1, std::memory_order_relaxed);
        // Whoever puts in the next has its place at hand.
        const Completion &next = ring[(produced + 1) & mask];
        __builtin_prefetch(&next, 1);
        __builtin_prefetch(next.data, 1);
        channel = cq.channel;
        if (channel.inode != 0) {
            // Who arms the queue and then finds no completion must be told of this one.
            if (cq.fences.load(std::memory_order_relaxed) != Fences::kSpared || process.fences_by_itself)
                std::atomic_thread_fence(std::memory_order_seq_cst);
            else
                std::atomic_signal_fence(std::memory_order_seq_cst);
            const Armed armed = cq.armed.load(std::memory_order_relaxed);
            makes_event = armed == Armed::kAny
                              ? is_event_due(cq, starts_time)
                              : armed == Armed::kSolicited &&
                                    (completion.is_solicited || completion.status != IBV_WC_SUCCESS);
            if (makes_event)
                count_event(cq);
        }
    }
    if (makes_event) [[unlikely]]
        process.write_byte(peer, channel);
    else if (starts_time) [[unlikely]]
        process.call_helper(peer);
    return Pushed::kYes;
}

}  // namespace urxe::direct
