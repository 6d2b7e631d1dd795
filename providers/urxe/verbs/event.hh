// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events, from where they arise to ibv_get_async_event (IBTA 11.6.3).
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>

#include <cstdint>

#include "common/lock.hh"

namespace urxe {

/// Who events are about: part of each object that has any. One of a kind waits at most once per object; no memory is
/// needed to make one, so none is lost.
struct EventSource {
    EventSource *next;
    bool is_queued;
    uint64_t pending;       ///< ibv_event_type, as bits
    uint32_t given;         ///< events that the program has got
    ibv_async_event event;  ///< with the object; the type is of no meaning
};

/// The events of a context. Lives in zeroed memory, between init() and destroy().
class EventQueue {
public:
    /// Makes the pipe that has a byte per event. 0 or a positive errno value.
    int init();
    void destroy();
    /// In the child of a fork: the thread that may have held its lock is not there, and events are the parent's.
    void become_inherited();
    /// What the program reads from, by way of take(). Owned by the context, as its async_fd.
    int read_end() const { return read_end_; }

    /// Any thread, under any lock but its own.
    void raise(EventSource &source, ibv_event_type type);
    /// Takes back what the program has not got yet, before the object goes.
    void forget(EventSource &source);
    /// Takes one event; blocks while there is none, unless the program has set O_NONBLOCK. A positive errno value on
    /// failure.
    int take(ibv_async_event &event);

private:
    int read_end_, write_end_;
    common::Mutex lock_;
    EventSource *first_;
};

/// Takes back the bytes of `count` events that are gone from the pipe where they wait, lest it be ready to be read for nothing;
/// but none of those of `others`, nor any that is not there.
void take_back(int read_end, uint64_t count, uint64_t others);

/// Waits until the program has acknowledged what it has got of an object (IBTA 11.2.8.4): until is_done(), which acks may
/// make true. `Object` is ibv_cq, ibv_qp or ibv_srq.
template <class Object, class IsDone>
void wait_for_acks(Object &object, IsDone is_done)
{
    pthread_mutex_lock(&object.mutex);
    while (!is_done())
        pthread_cond_wait(&object.cond, &object.mutex);
    pthread_mutex_unlock(&object.mutex);
}

/// The op.
int event_get(ibv_context *context, ibv_async_event *event);

}  // namespace urxe
