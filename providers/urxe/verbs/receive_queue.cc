// SPDX-License-Identifier: BSD-2-Clause
// Posting receives, and ending them.
#include "verbs/receive_queue.hh"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace urxe {

int ReceiveQueue::init(Process &process, shared::ReceiveQueue &queue, uint32_t max_wr, uint32_t max_sge,
                       uint32_t pd, bool in_any_order, shared::TagList *tags)
{
    slots_ = std::bit_ceil(max_wr == 0 ? 1 : max_wr);
    mask_ = slots_ - 1;
    stride_ = static_cast<uint32_t>(sizeof(shared::Receive) + max_sge * sizeof(shared::Segment));
    max_wr_ = max_wr;
    max_sge_ = max_sge;
    pd_ = pd;
    queue_ = &queue;
    tags_ = tags;
    states_ = static_cast<State *>(std::calloc(slots_, sizeof(State)));
    kept_ = static_cast<char *>(std::calloc(slots_, stride_));
    queue.receives = receives_at_ = process.allocator.allocate(uint64_t{slots_} * stride_);
    queue.order = order_at_ =
        in_any_order ? process.allocator.allocate(uint64_t{slots_} * sizeof(uint32_t)) : 0;
    if (states_ == nullptr || kept_ == nullptr || receives_at_ == 0 || (in_any_order && order_at_ == 0)) {
        destroy(process);
        return ENOMEM;
    }
    receives_ = static_cast<char *>(process.self.heap.at(receives_at_, uint64_t{slots_} * stride_));
    if (in_any_order)
        order_ =
            static_cast<uint32_t *>(process.self.heap.at(order_at_, uint64_t{slots_} * sizeof(uint32_t)));
    queue.mask = mask_;
    queue.stride = stride_;
    queue.max_segments = max_sge;
    queue.pd = pd;
    queue.limit.store(0);
    clear();
    return 0;
}

void ReceiveQueue::destroy(Process &process)
{
    if (queue_ == nullptr)
        return;
    if (receives_at_ != 0)
        process.allocator.free(receives_at_, uint64_t{slots_} * stride_);
    if (order_at_ != 0)
        process.allocator.free(order_at_, uint64_t{slots_} * sizeof(uint32_t));
    queue_->receives = queue_->order = 0;
    std::free(states_);
    std::free(kept_);
    states_ = nullptr;
    kept_ = nullptr;
    queue_ = nullptr;
}

void ReceiveQueue::clear()
{
    common::Locked locked(lock_);
    const shared::SharedLocked takers(queue_->lock);
    for (uint32_t slot = 0; slot < slots_; ++slot)
        states_[slot] = {.wr_id = 0,
                         .is_outstanding = false,
                         .is_delivered = false,
                         .is_waiting = false,
                         .next_free = slot + 1};
    first_free_ = 0;
    posted_ = outstanding_ = 0;
    queue_->posted.store(0, std::memory_order_relaxed);
    queue_->taken.store(0, std::memory_order_relaxed);
    queue_->posted_before = 0;
}

int ReceiveQueue::post(ibv_recv_wr *list, ibv_recv_wr **bad)
{
    common::Locked locked(lock_);
    int error = 0;
    for (; list != nullptr; list = list->next) {
        if (static_cast<uint32_t>(list->num_sge) > max_sge_) [[unlikely]] {
            error = EINVAL;
            break;
        }
        const uint32_t slot = order_ != nullptr ? first_free_ : posted_ & mask_;
        if (outstanding_ >= max_wr_ || slot >= slots_ || states_[slot].is_outstanding) [[unlikely]] {
            error = ENOMEM;
            break;
        }
        State &state = states_[slot];
        shared::Receive &kept = this->kept(slot);
        uint64_t length = 0;
        for (int i = 0; i < list->num_sge; ++i) {
            const ibv_sge &sge = list->sg_list[i];
            kept.segments[i] = {.address = sge.addr, .length = sge.length, .lkey = sge.lkey};
            length += sge.length;
        }
        if (length > UINT32_MAX) [[unlikely]] {
            error = EINVAL;
            break;
        }
        shared::Receive &receive = at(slot);
        receive.num_segments = kept.num_segments = static_cast<uint32_t>(list->num_sge);
        receive.length = kept.length = static_cast<uint32_t>(length);
        receive.taker.store(0, std::memory_order_relaxed);
        std::copy_n(kept.segments, kept.num_segments, receive.segments);
        state.wr_id = list->wr_id;
        state.is_outstanding = true;
        state.is_delivered = false;
        if (order_ != nullptr) {
            first_free_ = state.next_free;
            order_[posted_ & mask_] = slot;
        }
        ++outstanding_;
        queue_->posted.store(++posted_, std::memory_order_release);
    }
    if (error != 0)
        *bad = list;
    return error;
}

bool ReceiveQueue::complete(uint32_t slot, bool is_success, bool with_segments, Ended &ended)
{
    common::Locked locked(lock_);
    if (slot >= slots_ || !states_[slot].is_outstanding) [[unlikely]]
        return false;
    ended.fill(states_[slot].wr_id, kept(slot), with_segments);
    if (tags_ != nullptr && (at(slot).taker.load(std::memory_order_relaxed) & shared::kIsUnexpected) != 0) {
        if (is_success) {
            ++seen_;
        } else {
            const shared::SharedLocked takers(queue_->lock);
            --tags_->unexpected;
            tags_->settle();
        }
    }
    end(slot);
    return true;
}

void ReceiveQueue::end(uint32_t slot)
{
    states_[slot].is_outstanding = false;
    --outstanding_;
    if (order_ != nullptr) {
        states_[slot].next_free = first_free_;
        first_free_ = slot;
    }
}

int ReceiveQueue::resize(Process &process, uint32_t max_wr)
{
    const uint32_t slots = std::bit_ceil(max_wr);
    // Completions name slots, so those that there are stay as they are.
    if (slots <= slots_) {
        common::Locked locked(lock_);
        if (outstanding_ > max_wr)
            return EINVAL;
        max_wr_ = max_wr;
        return 0;
    }
    auto *states = static_cast<State *>(std::calloc(slots, sizeof(State)));
    const uint64_t size = uint64_t{slots} * stride_, order_size = uint64_t{slots} * sizeof(uint32_t);
    const shared::Offset receives = process.allocator.allocate(size);
    const shared::Offset order = process.allocator.allocate(order_size);
    auto *kept = static_cast<char *>(std::calloc(slots, stride_));
    if (states == nullptr || kept == nullptr || receives == 0 || order == 0) {
        std::free(states);
        std::free(kept);
        if (receives != 0)
            process.allocator.free(receives, size);
        if (order != 0)
            process.allocator.free(order, order_size);
        return ENOMEM;
    }
    shared::Offset old_receives, old_order;
    const uint32_t old_slots = slots_;
    State *old_states;
    char *old_kept;
    {
        common::Locked locked(lock_);
        const shared::SharedLocked takers(queue_->lock);
        old_receives = std::exchange(receives_at_, receives);
        old_order = std::exchange(order_at_, order);
        queue_->receives = receives;
        queue_->order = order;
        old_kept = std::exchange(kept_, kept);
        std::memcpy(kept_, old_kept, uint64_t{slots_} * stride_);
        auto *moved = static_cast<char *>(process.self.heap.at(receives, size));
        auto *numbers = static_cast<uint32_t *>(process.self.heap.at(order, order_size));
        std::memcpy(moved, receives_, uint64_t{slots_} * stride_);
        for (uint32_t i = 0; i < slots_; ++i)
            numbers[(posted_ - 1 - i) & (slots - 1)] = order_[(posted_ - 1 - i) & mask_];
        old_states = std::exchange(states_, states);
        std::memcpy(states_, old_states, slots_ * sizeof(State));
        // The list of the free ends with the number of slots, which is the first new one.
        for (uint32_t slot = slots_; slot < slots; ++slot)
            states_[slot].next_free = slot + 1;
        receives_ = moved;
        order_ = numbers;
        slots_ = slots;
        queue_->mask = mask_ = slots - 1;
        max_wr_ = max_wr;
    }
    // Who takes a receive holds the lock while it looks at these.
    process.allocator.free(old_receives, uint64_t{old_slots} * stride_);
    process.allocator.free(old_order, uint64_t{old_slots} * sizeof(uint32_t));
    std::free(old_states);
    std::free(old_kept);
    return 0;
}

}  // namespace urxe
