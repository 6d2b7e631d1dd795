// SPDX-License-Identifier: BSD-2-Clause
// Completion queues and the channels that tell of them.
#pragma once

#include <infiniband/driver.h>

#include <atomic>
#include <cstdint>

#include "common/domain.hh"
#include "process.hh"
#include "verbs/event.hh"

namespace urxe {

struct CompChannel {
    ibv_comp_channel channel;  // must be first
    int write_end;
    shared::PipeEnd end;  ///< it, as peers know it
    Process *process;
    CompChannel *next;  ///< of the process
    common::Mutex lock;
    Cq *cqs;  ///< that it tells of, by Cq::next_of_channel; the first is the one whose turn is next
};

struct Cq {
    verbs_cq verbs;  // must be first
    common::Membership membership;
    Process *process;
    shared::CqEntry *shared;
    uint32_t index;
    uint32_t created_flags;

    shared::Lock lock;  ///< of those who poll
    const shared::Completion *ring;
    shared::Offset ring_at;         ///< in the heap
    std::atomic<uint32_t> is_busy;  ///< a thread takes a completion: it looks at QPs and writes to receives
    uint32_t mask;
    uint32_t consumed;
    /// Where the next completion will be and the number by which it is known, for who looks without the lock. While several
    /// threads poll, the two may not belong together: one of them finds nothing then, once.
    std::atomic<const shared::Completion *> next;
    std::atomic<uint32_t> next_sequence;
    EventSource events;

    // Between ibv_start_poll and ibv_end_poll.
    ibv_wc current;
    uint64_t timestamp;
    ibv_wc_tm_info tm_info;

    CompChannel *channel;
    Cq *next_of_channel;
    Cq *next_moderated;   ///< of the process
    bool is_moderated;    ///< it is among them
    uint32_t num_events;  ///< that the program has been given
    uint32_t users;       ///< QPs and others; under process->lock
};

inline Cq &to_cq(ibv_cq *cq)
{
    return *reinterpret_cast<Cq *>(cq);
}

int comp_channel_create(ibv_context *context, ibv_comp_channel **channel);
int comp_channel_destroy(ibv_comp_channel *channel);
/// Takes one event; blocks while there is none, unless the program has set O_NONBLOCK. A positive errno value on failure.
int comp_channel_get_event(ibv_comp_channel *channel, ibv_cq **cq);
/// Leaves a queue that goes out, with the events of it that the program has not got. Nobody makes any more.
void comp_channel_forget(CompChannel &channel, Cq &cq);

ibv_cq *cq_create(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector);
ibv_cq_ex *cq_create_ex(ibv_context *context, ibv_cq_init_attr_ex *attr);
int cq_resize(ibv_cq *cq, int cqe);
int cq_modify(ibv_cq *cq, ibv_modify_cq_attr *attr);
int cq_destroy(ibv_cq *cq);
int cq_poll(ibv_cq *cq, int count, ibv_wc *wc);
int cq_req_notify(ibv_cq *cq, int solicited_only);

/// Whether there is nothing to take. Any thread, without the lock.
inline bool cq_is_empty(const Cq &cq)
{
    const shared::Completion *next = cq.next.load(std::memory_order_relaxed);
    // A peer wrote to both cache lines: one does not wait for the other.
    __builtin_prefetch(next->data);
    return next->sequence.load(std::memory_order_relaxed) != cq.next_sequence.load(std::memory_order_relaxed);
}

/// Takes the next completion of the queue, with Cq::lock held. False: there is none.
bool cq_take(Cq &cq, ibv_wc &wc);
/// Tells the program that the queue lost a completion.
void cq_overrun(Cq &cq);
/// Makes the event whose time has come, if it still waits to be made. When that will be, in now_ns(); kNever: no time is set.
uint64_t cq_event_due(Cq &cq, uint64_t now);
/// Makes the event that a peer which died in between may have left unmade. Under process->lock.
void cq_lost_peer(Cq &cq);
/// In the child of a fork.
void cq_become_inherited(Cq &cq);
/// What polls do besides: look at what others left to be done.
void cq_poll_idle(Cq &cq);
void cq_ex_init(Cq &cq);

/// Calls seen(completion) for each that waits to be polled. Nobody polls meanwhile.
template <class Seen>
void cq_for_each(Cq &cq, Seen seen)
{
    common::Locked polls(cq.lock);
    for (uint32_t number = cq.consumed;; ++number) {
        const shared::Completion &completion = cq.ring[number & cq.mask];
        if (number - cq.consumed > cq.mask ||
            completion.sequence.load(std::memory_order_acquire) != number + 1)
            return;
        seen(completion);
    }
}

}  // namespace urxe
