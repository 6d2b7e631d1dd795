// SPDX-License-Identifier: BSD-2-Clause
// Posted receives of a QP or an SRQ, as their owner keeps them.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>

#include "direct/memory.hh"
#include "process.hh"

namespace urxe {

/// The owner's side of a shared::ReceiveQueue. Lives in zeroed memory, between init() and destroy().
class ReceiveQueue {
public:
    /// Makes room for `max_wr` receives of `max_sge` entries. A QP's are completed in the order in which they were posted,
    /// an SRQ's in any. 0 or a positive errno value. Under process.lock, as is destroy().
    /// `tags` are those of an SRQ; else null.
    int init(Process &process, shared::ReceiveQueue &queue, uint32_t max_wr, uint32_t max_sge, uint32_t pd,
             bool in_any_order, shared::TagList *tags = nullptr);
    void destroy(Process &process);
    /// In the child of a fork: the thread that may have held its lock is not there.
    void become_inherited() { lock_.unlock(); }

    /// Posts a list. 0, or a positive errno value with the first that was not posted in *bad. Any thread.
    int post(ibv_recv_wr *list, ibv_recv_wr **bad);

    /// Of a queue in any order: makes room for so many. 0, EINVAL where more are outstanding, or ENOMEM. Under process.lock.
    int resize(Process &process, uint32_t max_wr);

    /// What poll() gives of a receive that has ended.
    struct Ended {
        uint64_t wr_id;
        uint32_t length;  ///< sum of the segments'
        uint32_t num_segments;
        shared::Segment segments[direct::kMaxSegments];

        /// From a shared::Receive or shared::TagEntry.
        template <class Posted>
        void fill(uint64_t id, const Posted &posted, bool with_segments)
        {
            wr_id = id;
            length = posted.length;
            num_segments = with_segments ? posted.num_segments : 0;
            std::copy_n(posted.segments, num_segments, segments);
        }
    };
    /// Ends the receive in a slot, whose message the program sees if it is a success; its segments are given only if they are
    /// asked for. False where no receive is outstanding there: whoever said so does not tell the truth. Any thread.
    bool complete(uint32_t slot, bool is_success, bool with_segments, Ended &ended);

    /// A completion of the receive in a slot waits to be polled: flush() leaves it alone.
    void mark_delivered(uint32_t slot)
    {
        common::Locked locked(lock_);
        if (slot < slots_)
            states_[slot].is_delivered = true;
    }
    /// Takes all receives away from peers, and calls flushed(slot) for each that is outstanding and has no completion, in the
    /// order in which they were posted. For a QP's.
    template <class Flushed>
    void flush(Flushed flushed)
    {
        common::Locked locked(lock_);
        const shared::SharedLocked takers(queue_->lock);
        queue_->taken.store(posted_, std::memory_order_relaxed);
        for (uint32_t number = posted_ - slots_; number != posted_; ++number) {
            const uint32_t slot = number & mask_;
            if (states_[slot].is_outstanding && !states_[slot].is_delivered) {
                states_[slot].is_delivered = true;
                flushed(slot);
            }
        }
    }
    /// Of an SRQ: calls flushed(slot) for each receive that was taken for that QP and has no completion.
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
    /// Of an SRQ: ends the receives that were taken for a QP whose completions mean nothing any more.
    void drop_taken(uint32_t qp, uint32_t generation)
    {
        for_each_taken(qp, generation, [&](uint32_t slot) { end(slot); });
    }
    /// Forgets all receives.
    void clear();

    uint32_t max_wr() const { return max_wr_; }
    uint32_t max_sge() const { return max_sge_; }
    uint32_t pd() const { return pd_; }

private:
    struct State {
        uint64_t wr_id;
        bool is_outstanding;
        bool is_delivered;
        bool is_waiting;     ///< of an SRQ: to be taken; up to date within for_each_taken() alone
        uint32_t next_free;  ///< of an SRQ
    };

    template <class Each>
    void for_each_taken(uint32_t qp, uint32_t generation, Each each)
    {
        common::Locked locked(lock_);
        const shared::SharedLocked takers(queue_->lock);
        for (uint32_t slot = 0; slot < slots_; ++slot)
            states_[slot].is_waiting = false;
        for (uint32_t number = queue_->taken.load(std::memory_order_relaxed), i = 0;
             number != posted_ && i < slots_; ++number, ++i)
            states_[order_[number & mask_] & mask_].is_waiting = true;
        const uint64_t taker = shared::taker_of(qp, generation);
        uint32_t unexpected = seen_;
        for (uint32_t slot = 0; slot < slots_; ++slot) {
            if (!states_[slot].is_outstanding || states_[slot].is_waiting)
                continue;
            const uint64_t its_taker = at(slot).taker.load(std::memory_order_relaxed);
            if ((its_taker & ~shared::kIsUnexpected) == taker)
                each(slot);
            if ((its_taker & shared::kIsUnexpected) != 0 && states_[slot].is_outstanding)
                ++unexpected;
        }
        // Who took one may have died before it was counted, and the program will not see those that were dropped.
        if (tags_ != nullptr) {
            tags_->unexpected = unexpected;
            tags_->settle();
        }
    }
    shared::Receive &at(uint32_t slot) const
    {
        return *reinterpret_cast<shared::Receive *>(receives_ + uint64_t{slot} * stride_);
    }
    /// The slot is free again. Under lock_.
    void end(uint32_t slot);

    /// What was posted to a slot, where no peer can write.
    shared::Receive &kept(uint32_t slot) const
    {
        return *reinterpret_cast<shared::Receive *>(kept_ + uint64_t{slot} * stride_);
    }

    shared::Lock lock_;
    shared::ReceiveQueue *queue_;
    shared::TagList *tags_;
    char *kept_;
    char *receives_;
    uint32_t *order_;
    shared::Offset receives_at_, order_at_;  ///< in the heap
    State *states_;
    uint32_t slots_, mask_, stride_;
    uint32_t max_wr_, max_sge_, pd_;
    uint32_t posted_;
    uint32_t outstanding_;
    uint32_t first_free_;  ///< of an SRQ; slots_: none
    uint32_t seen_;        ///< unexpected messages that the program has been told of
};

}  // namespace urxe
