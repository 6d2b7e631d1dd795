// SPDX-License-Identifier: BSD-2-Clause
// Matching messages with the tags of an SRQ, by whoever delivers them.
#include "direct/tags.hh"

#include <infiniband/tm_types.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "wire/bytes.hh"

namespace urxe::direct {
namespace {

using shared::TagEntry;
using shared::TagList;

static_assert(sizeof(ibv_tmh) + sizeof(ibv_rvh) == kTagHeader);

constexpr uint8_t kNoTag = IBV_WC_TM_NO_TAG - IBV_WC_RECV;
constexpr uint8_t kTagged = IBV_WC_TM_RECV - IBV_WC_RECV;

/// Takes the first entry that takes part and matches, and copies its segments. Whoever dies in between leaves a list that
/// can be followed: each store makes it one.
bool find(Peer &peer, TagList &list, uint64_t tag, uint64_t taker, TakenReceive &taken)
{
    const uint32_t slots = shared::once(list.slots);
    const uint64_t stride = shared::once(list.stride);
    const shared::Offset place = shared::once(list.entries);
    auto *entries = static_cast<char *>(place % alignof(TagEntry) != 0 || stride % alignof(TagEntry) != 0 ||
                                                stride < sizeof(TagEntry)
                                            ? nullptr
                                            : peer.heap.at(place, slots * stride));
    if (entries == nullptr)
        return false;
    uint32_t *link = &list.first;
    // Each once, however they are linked.
    for (uint32_t steps = 0; steps < slots; ++steps) {
        const uint32_t slot = shared::once(*link);
        if (slot >= slots)
            return false;
        auto &entry = *reinterpret_cast<TagEntry *>(entries + slot * stride);
        const uint32_t next = shared::once(entry.next);
        const bool is_last = next >= slots;
        const auto unlink = [&] {
            std::atomic_ref(*link).store(next, std::memory_order_release);
            entry.state.store(shared::kTagUnlinked, std::memory_order_release);
        };
        if (entry.state.load(std::memory_order_relaxed) == shared::kTagListed) {
            if (static_cast<int32_t>(entry.number - list.active_end) >= 0)
                return false;
            if ((tag & entry.mask) != entry.tag) {
                link = &entry.next;
                continue;
            }
            taken.count = shared::once(entry.num_segments);
            if (taken.count > kMaxSegments ||
                sizeof(TagEntry) + taken.count * sizeof(shared::Segment) > stride)
                return false;
            taken.slot = slot;
            taken.length = entry.length;
            if (taken.count != 0)
                std::memcpy(taken.segments, entry.segments, taken.count * sizeof(shared::Segment));
            entry.taker.store(taker, std::memory_order_relaxed);
            entry.state.store(shared::kTagTaken, std::memory_order_release);
            if (!is_last)
                unlink();
            return true;
        }
        if (is_last)
            return false;
        unlink();
    }
    return false;
}

uint8_t sync_flag(const TagList &list)
{
    return list.handled != list.unexpected ? IBV_WC_TM_SYNC_REQ : 0;
}

}  // namespace

bool take_tag(const Target &target, shared::SrqEntry &srq, std::span<const uint8_t> message,
              TakenReceive &taken)
{
    const uint8_t opcode = message.empty() ? uint8_t{IBV_TMH_NO_TAG} : message[0];
    const bool is_rendezvous = opcode == IBV_TMH_RNDV && message.size() == kTagHeader;
    // Where there is no tag, nothing but the opcode is looked at.
    if (opcode != IBV_TMH_NO_TAG && message.size() >= sizeof(ibv_tmh)) {
        taken.app_ctx = wire::load32(message.data() + offsetof(ibv_tmh, app_ctx));
        taken.tag = wire::load64(message.data() + offsetof(ibv_tmh, tag));
        taken.is_unexpected = opcode == IBV_TMH_EAGER || is_rendezvous;
    }
    if (!taken.is_unexpected) {
        taken.opcode = kNoTag;
        taken.wc_flags = sync_flag(srq.tags);
        return false;
    }
    if (!find(target.peer, srq.tags, taken.tag, target.taker(), taken))
        return false;
    taken.is_unexpected = false;
    taken.is_tag = true;
    taken.opcode = kTagged;
    taken.wc_flags = static_cast<uint8_t>(IBV_WC_TM_MATCH | sync_flag(srq.tags));
    if (is_rendezvous) {
        // None of it goes into the tag's memory.
        taken.is_rendezvous = true;
        taken.end = 0;
        std::memcpy(taken.header, message.data(), sizeof taken.header);
    } else {
        taken.begin = sizeof(ibv_tmh);
        taken.wc_flags |= IBV_WC_TM_DATA_VALID;
    }
    return true;
}

uint64_t count_unexpected(shared::SrqEntry &srq, TakenReceive &taken)
{
    if (!taken.is_unexpected)
        return 0;
    ++srq.tags.unexpected;
    taken.wc_flags = sync_flag(srq.tags);
    return shared::kIsUnexpected;
}

}  // namespace urxe::direct
