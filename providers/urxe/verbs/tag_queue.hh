// SPDX-License-Identifier: BSD-2-Clause
// The tags of an SRQ, as their owner keeps them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "process.hh"
#include "verbs/receive_queue.hh"

namespace urxe {

struct Cq;

/// The most tags of an SRQ, operations on them that wait to be polled, and entries of a buffer with a tag.
constexpr uint32_t kMaxTags = 4096, kMaxTagOps = 4096, kMaxTagSegments = direct::kMaxSegments;

/// The owner's side of a shared::TagList. Lives in zeroed memory, between init() and destroy().
class TagQueue {
public:
    /// Makes room for what `cap` says. `index` is that of the SRQ, whose completions go to `cq`. 0 or a positive errno value.
    /// Under process.lock, as is destroy().
    int init(Process &process, shared::SrqEntry &srq, uint32_t index, Cq &cq, const ibv_tm_cap &cap);
    void destroy(Process &process);
    /// In the child of a fork: the thread that may have held its lock is not there.
    void become_inherited() { lock_.unlock(); }

    /// Carries out a list of operations. 0, or a positive errno value with the first that was not carried out in *bad. Any
    /// thread.
    int post(ibv_ops_wr *list, ibv_ops_wr **bad);

    /// A tag's buffer has got a message. `is_final`: it has all of it, and ends; its segments are given only if they are asked
    /// for. False where no tag is outstanding there. Any thread.
    bool complete(uint32_t slot, bool is_final, bool with_segments, ReceiveQueue::Ended &ended);
    /// What poll() gives of an operation; false where none is outstanding there. Any thread.
    bool complete_op(uint32_t slot, ibv_wc &wc);

    /// As those of ReceiveQueue.
    void mark_delivered(uint32_t slot)
    {
        common::Locked locked(lock_);
        if (slot < slots_)
            states_[slot].is_delivered = true;
    }
    template <class Flushed>
    void flush_taken(uint32_t qp, uint32_t generation, Flushed flushed)
    {
        for_each_taken(qp, generation, [&](uint32_t slot) {
            if (!states_[slot].is_delivered) {
                states_[slot].is_delivered = true;
                flushed(slot);
            }
        });
    }
    void drop_taken(uint32_t qp, uint32_t generation)
    {
        for_each_taken(qp, generation, [&](uint32_t slot) { end(slot); });
    }

private:
    struct State {
        uint64_t wr_id;
        bool is_outstanding;
        bool is_delivered;
        uint16_t generation;  ///< grows with each tag that is put there
        uint32_t next_free;
    };
    struct Op {
        uint64_t wr_id;
        ibv_wc_opcode opcode;
        ibv_wc_status status;
        bool is_outstanding;
        bool wants_sync;
        uint32_t next_free;
    };

    template <class Each>
    void for_each_taken(uint32_t qp, uint32_t generation, Each each)
    {
        common::Locked locked(lock_);
        const shared::SharedLocked takers(srq_->receives.lock);
        const uint64_t taker = shared::taker_of(qp, generation);
        for (uint32_t slot = 0; slot < slots_; ++slot)
            if (states_[slot].is_outstanding &&
                at(slot).state.load(std::memory_order_relaxed) != shared::kTagListed &&
                at(slot).taker.load(std::memory_order_relaxed) == taker)
                each(slot);
    }
    shared::TagEntry &at(uint32_t slot) const
    {
        return *reinterpret_cast<shared::TagEntry *>(entries_ + uint64_t{slot} * kStride);
    }
    /// What was posted to a slot, where no peer can write.
    shared::TagEntry &kept(uint32_t slot) const
    {
        return *reinterpret_cast<shared::TagEntry *>(kept_ + uint64_t{slot} * kStride);
    }
    int add(ibv_ops_wr &wr);
    bool remove(uint32_t handle);
    /// The tag is nobody's any more. Under both locks.
    void end(uint32_t slot);
    void free(uint32_t slot);
    /// Takes out of the list what need not be in it. Under both locks.
    void purge();
    void push(const ibv_ops_wr &wr, ibv_wc_opcode opcode, ibv_wc_status status);

    static constexpr uint32_t kStride = sizeof(shared::TagEntry) + kMaxTagSegments * sizeof(shared::Segment);

    shared::Lock lock_;  ///< taken before that of the SRQ's receives
    Process *process_;
    shared::SrqEntry *srq_;
    uint32_t srq_index_;
    Cq *cq_;
    char *entries_, *kept_;
    shared::Offset entries_at_;  ///< in the heap
    State *states_;
    Op *ops_;
    uint32_t slots_, num_ops_;
    uint32_t outstanding_;    ///< tags; at most slots_ - 1
    uint32_t first_free_;     ///< slots_: none
    uint32_t first_free_op_;  ///< num_ops_: none
    uint32_t last_;           ///< slot at the end of the list, taken or not: it stays until there is another
    bool is_overrun_;         ///< the completion queue had no room
};

}  // namespace urxe
