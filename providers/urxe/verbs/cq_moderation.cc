// SPDX-License-Identifier: BSD-2-Clause
// Moderation of completion events: one for several completions, or for all that come within a time.
#include <cerrno>

#include "direct/completion.hh"
#include "verbs/cq.hh"

namespace urxe {

using shared::CqEntry;

namespace {

/// Makes the event that completions have not made.
void make_event(Cq &cq)
{
    CqEntry &entry = *cq.shared;
    {
        const shared::SharedLocked pushes(entry.lock);
        if (entry.armed.load(std::memory_order_relaxed) != shared::Armed::kAny || entry.untold == 0)
            return;
        direct::count_event(entry);
    }
    cq.process->write_byte(cq.process->self, cq.channel->end);
}

}  // namespace

int cq_modify(ibv_cq *ibcq, ibv_modify_cq_attr *attr)
{
    if ((attr->attr_mask & ~uint32_t{IBV_CQ_ATTR_MODERATE}) != 0)
        return EINVAL;
    Cq &cq = to_cq(ibcq);
    if ((attr->attr_mask & IBV_CQ_ATTR_MODERATE) == 0 || cq.channel == nullptr)
        return 0;  // Nobody waits for it.
    Process &process = *cq.process;
    if (attr->moderate.cq_period != 0) {
        if (const int error = process.start_helper(); error != 0)
            return error;
        process.add_moderated(cq);
    }
    CqEntry &entry = *cq.shared;
    {
        const shared::SharedLocked pushes(entry.lock);
        entry.event_count = attr->moderate.cq_count;
        entry.event_period = attr->moderate.cq_period;
    }
    // What was to wait for more, or for a time, waits by other rules now: it is told at once.
    make_event(cq);
    return 0;
}

uint64_t cq_event_due(Cq &cq, uint64_t now)
{
    constexpr uint64_t kLongestNs = uint64_t{UINT16_MAX} * 1000;
    const uint64_t due = cq.shared->event_due.load(std::memory_order_seq_cst);
    if (due == 0)
        return kNever;
    // One that no moderation sets is somebody's nonsense.
    if (due > now && due - now <= kLongestNs)
        return due;
    make_event(cq);
    // Where there was none to make, nobody waits for that time.
    uint64_t seen = due;
    cq.shared->event_due.compare_exchange_strong(seen, 0);
    return kNever;
}

}  // namespace urxe
