// SPDX-License-Identifier: BSD-2-Clause
// Adding tags to an SRQ and taking them away, and ending them.
#include "verbs/tag_queue.hh"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "direct/completion.hh"
#include "verbs/cq.hh"

namespace urxe {

int TagQueue::init(Process &process, shared::SrqEntry &srq, uint32_t index, Cq &cq, const ibv_tm_cap &cap)
{
    process_ = &process;
    srq_ = &srq;
    srq_index_ = index;
    cq_ = &cq;
    // One more, for the end of the list that stays where it is.
    slots_ = cap.max_num_tags + 1;
    num_ops_ = std::max(cap.max_ops, 1U);
    const uint64_t size = uint64_t{slots_} * kStride;
    states_ = static_cast<State *>(std::calloc(slots_, sizeof(State)));
    ops_ = static_cast<Op *>(std::calloc(num_ops_, sizeof(Op)));
    kept_ = static_cast<char *>(std::calloc(slots_, kStride));
    entries_at_ = process.allocator.allocate(size);
    if (states_ == nullptr || ops_ == nullptr || kept_ == nullptr || entries_at_ == 0) {
        destroy(process);
        return ENOMEM;
    }
    entries_ = static_cast<char *>(process.self.heap.at(entries_at_, size));
    for (uint32_t slot = 0; slot < slots_; ++slot)
        states_[slot].next_free = slot + 1;
    for (uint32_t op = 0; op < num_ops_; ++op)
        ops_[op].next_free = op + 1;
    last_ = 0;
    first_free_ = 1;
    at(last_).next = slots_;
    at(last_).state.store(shared::kTagTaken);
    srq.tags = {.entries = entries_at_, .slots = slots_, .stride = kStride};
    return 0;
}

void TagQueue::destroy(Process &process)
{
    if (srq_ == nullptr)
        return;
    srq_->tags = {};
    if (entries_at_ != 0)
        process.allocator.free(entries_at_, uint64_t{slots_} * kStride);
    std::free(states_);
    std::free(ops_);
    std::free(kept_);
    srq_ = nullptr;
}

int TagQueue::post(ibv_ops_wr *list, ibv_ops_wr **bad)
{
    constexpr int kFlags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
    int error = srq_ == nullptr ? EINVAL : 0;
    bool is_overrun = false;
    if (error == 0) {
        common::Locked locked(lock_);
        for (; list != nullptr; list = list->next) {
            // A tag may be gone, and then that is told in any case.
            uint32_t asked;  // The program's may be none.
            static_assert(sizeof asked == sizeof list->opcode);
            std::memcpy(&asked, &list->opcode, sizeof asked);
            const bool may_complete = (list->flags & IBV_OPS_SIGNALED) != 0 || asked == IBV_WR_TAG_DEL;
            if ((list->flags & ~kFlags) != 0 || asked > IBV_WR_TAG_SYNC)
                error = EINVAL;
            else if (may_complete && first_free_op_ >= num_ops_)
                error = ENOMEM;
            if (error != 0)
                break;
            const shared::SharedLocked takers(srq_->receives.lock);
            ibv_wc_opcode opcode = IBV_WC_TM_SYNC;
            ibv_wc_status status = IBV_WC_SUCCESS;
            if (asked == IBV_WR_TAG_ADD) {
                opcode = IBV_WC_TM_ADD;
                error = add(*list);
            } else if (asked == IBV_WR_TAG_DEL) {
                opcode = IBV_WC_TM_DEL;
                status = remove(list->tm.handle) ? IBV_WC_SUCCESS : IBV_WC_TM_ERR;
            }
            if (error != 0)
                break;
            if (asked == IBV_WR_TAG_SYNC || (list->flags & IBV_OPS_TM_SYNC) != 0)
                srq_->tags.handled = list->tm.unexpected_cnt;
            srq_->tags.settle();
            if ((list->flags & IBV_OPS_SIGNALED) != 0 || status != IBV_WC_SUCCESS)
                push(*list, opcode, status);
        }
        is_overrun = std::exchange(is_overrun_, false);
    }
    if (is_overrun)
        cq_overrun(*cq_);
    if (error != 0)
        *bad = list;
    return error;
}

int TagQueue::add(ibv_ops_wr &wr)
{
    const auto &tag = wr.tm.add;
    if (static_cast<uint32_t>(tag.num_sge) > kMaxTagSegments)
        return EINVAL;
    const uint32_t slot = first_free_;
    if (outstanding_ >= slots_ - 1 || slot >= slots_)
        return ENOMEM;
    shared::TagEntry &kept = this->kept(slot);
    uint64_t length = 0;
    for (int i = 0; i < tag.num_sge; ++i) {
        const ibv_sge &sge = tag.sg_list[i];
        kept.segments[i] = {.address = sge.addr, .length = sge.length, .lkey = sge.lkey};
        length += sge.length;
    }
    if (length > UINT32_MAX)
        return EINVAL;
    kept.num_segments = static_cast<uint32_t>(tag.num_sge);
    kept.length = static_cast<uint32_t>(length);
    State &state = states_[slot];
    first_free_ = state.next_free;
    state.wr_id = tag.recv_wr_id;
    state.is_outstanding = true;
    state.is_delivered = false;
    ++outstanding_;
    ++state.generation;
    wr.tm.handle = uint32_t{state.generation} << 16 | slot;

    shared::TagEntry &entry = at(slot);
    entry.tag = tag.tag;
    entry.mask = tag.mask;
    entry.next = slots_;
    entry.number = srq_->tags.next_number;
    entry.num_segments = kept.num_segments;
    entry.length = kept.length;
    entry.taker.store(0, std::memory_order_relaxed);
    std::copy_n(kept.segments, kept.num_segments, entry.segments);
    entry.state.store(shared::kTagListed, std::memory_order_relaxed);
    ++srq_->tags.next_number;
    at(last_).next = slot;
    const uint32_t before = std::exchange(last_, slot);
    // It stayed only to be the end.
    if (!states_[before].is_outstanding)
        free(before);
    return 0;
}

bool TagQueue::remove(uint32_t handle)
{
    const uint32_t slot = handle & 0xffff;
    if (slot >= slots_ || !states_[slot].is_outstanding || states_[slot].generation != handle >> 16 ||
        at(slot).state.load(std::memory_order_relaxed) != shared::kTagListed)
        return false;
    at(slot).state.store(shared::kTagTaken, std::memory_order_relaxed);
    end(slot);
    return true;
}

void TagQueue::end(uint32_t slot)
{
    states_[slot].is_outstanding = false;
    --outstanding_;
    if (slot != last_)
        free(slot);
}

void TagQueue::free(uint32_t slot)
{
    if (at(slot).state.load(std::memory_order_relaxed) != shared::kTagUnlinked)
        purge();
    states_[slot].next_free = first_free_;
    first_free_ = slot;
}

void TagQueue::purge()
{
    uint32_t *link = &srq_->tags.first;
    for (uint32_t steps = 0; steps < slots_; ++steps) {
        const uint32_t slot = shared::once(*link);
        if (slot >= slots_ || slot == last_)
            return;
        shared::TagEntry &entry = at(slot);
        if (entry.state.load(std::memory_order_relaxed) == shared::kTagListed) {
            link = &entry.next;
        } else {
            *link = entry.next;
            entry.state.store(shared::kTagUnlinked, std::memory_order_relaxed);
        }
    }
}

void TagQueue::push(const ibv_ops_wr &wr, ibv_wc_opcode opcode, ibv_wc_status status)
{
    const uint32_t slot = first_free_op_;
    Op &op = ops_[slot];
    direct::NewCompletion completion{};
    completion.request = slot;
    completion.srq = srq_index_;
    completion.srq_generation = srq_->generation.load(std::memory_order_relaxed);
    completion.status = status;
    completion.kind = shared::kTagOpCompletion;
    if (direct::push(*process_, process_->self, *cq_->shared, completion) != direct::Pushed::kYes) {
        is_overrun_ = true;
        return;
    }
    first_free_op_ = op.next_free;
    op.wr_id = wr.wr_id;
    op.opcode = opcode;
    op.status = status;
    op.is_outstanding = true;
    op.wants_sync = srq_->tags.handled != srq_->tags.unexpected;
}

bool TagQueue::complete(uint32_t slot, bool is_final, bool with_segments, ReceiveQueue::Ended &ended)
{
    common::Locked locked(lock_);
    if (slot >= slots_ || !states_[slot].is_outstanding)
        return false;
    ended.fill(states_[slot].wr_id, kept(slot), with_segments);
    if (is_final) {
        const shared::SharedLocked takers(srq_->receives.lock);
        // A peer that does not tell the truth may have left it in the list.
        if (at(slot).state.load(std::memory_order_relaxed) == shared::kTagListed)
            at(slot).state.store(shared::kTagTaken, std::memory_order_relaxed);
        end(slot);
    }
    return true;
}

bool TagQueue::complete_op(uint32_t slot, ibv_wc &wc)
{
    common::Locked locked(lock_);
    if (slot >= num_ops_ || !ops_[slot].is_outstanding)
        return false;
    Op &op = ops_[slot];
    wc.wr_id = op.wr_id;
    wc.opcode = op.opcode;
    wc.status = op.status;
    wc.wc_flags = op.wants_sync ? IBV_WC_TM_SYNC_REQ : 0;
    op.is_outstanding = false;
    op.next_free = first_free_op_;
    first_free_op_ = slot;
    return true;
}

}  // namespace urxe
