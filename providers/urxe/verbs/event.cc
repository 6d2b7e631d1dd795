// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events.
#include "verbs/event.hh"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "context.hh"

namespace urxe {
namespace {

/// How many events wait. Not by std::popcount, which is a function of the compiler's runtime on plain x86-64.
unsigned count_of(uint64_t pending)
{
    unsigned count = 0;
    for (unsigned type = 0; type < 64; ++type)
        count += static_cast<unsigned>(pending >> type & 1);
    return count;
}

}  // namespace

void take_back(int read_end, uint64_t count, uint64_t others)
{
    const int error = errno;
    int there = 0;
    while (count != 0 && ioctl(read_end, FIONREAD, &there) == 0 && static_cast<uint64_t>(there) > others) {
        char bytes[256];
        iovec room = {bytes, std::min({sizeof bytes, static_cast<size_t>(count),
                                       static_cast<size_t>(static_cast<uint64_t>(there) - others)})};
        // It never waits, unlike read(): another thread may have been faster.
        const ssize_t taken = vmsplice(read_end, &room, 1, SPLICE_F_NONBLOCK);
        if (taken <= 0)
            break;
        count -= static_cast<uint64_t>(taken);
    }
    errno = error;
}

int EventQueue::init()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    read_end_ = ends[0];
    write_end_ = ends[1];
    fcntl(write_end_, F_SETFL, O_NONBLOCK);
    lock_.init();
    return 0;
}

void EventQueue::destroy()
{
    close(write_end_);
    lock_.destroy();
}

void EventQueue::become_inherited()
{
    lock_.init();
    for (EventSource *source = std::exchange(first_, nullptr); source != nullptr; source = source->next) {
        source->is_queued = false;
        source->pending = 0;
    }
}

void EventQueue::raise(EventSource &source, ibv_event_type type)
{
    common::Locked locked(lock_);
    const uint64_t bit = uint64_t{1} << type;
    if ((source.pending & bit) != 0)
        return;
    source.pending |= bit;
    if (!source.is_queued) {
        EventSource **end = &first_;
        while (*end != nullptr)
            end = &(*end)->next;
        *end = &source;
        source.next = nullptr;
        source.is_queued = true;
    }
    const char byte = 0;
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(write_end_, &byte, 1);
    errno = error;
}

void EventQueue::forget(EventSource &source)
{
    common::Locked locked(lock_);
    uint64_t others = 0;
    for (EventSource **link = &first_; *link != nullptr;) {
        if (*link == &source) {
            *link = source.next;
            continue;
        }
        others += count_of((*link)->pending);
        link = &(*link)->next;
    }
    source.is_queued = false;
    take_back(read_end_, count_of(std::exchange(source.pending, 0)), others);
}

int EventQueue::take(ibv_async_event &event)
{
    for (;;) {
        char byte;
        const ssize_t count = read(read_end_, &byte, 1);
        if (count != 1)
            return count < 0 ? errno : EPIPE;
        common::Locked locked(lock_);
        EventSource *source = first_;
        if (source == nullptr)
            continue;  // It was taken back.
        const int type = std::countr_zero(source->pending);
        source->pending &= source->pending - 1;
        if (source->pending == 0) {
            first_ = source->next;
            source->is_queued = false;
        }
        ++source->given;
        event = source->event;
        event.event_type = static_cast<ibv_event_type>(type);
        return 0;
    }
}

int event_get(ibv_context *context, ibv_async_event *event)
{
    return to_context(context)->events.take(*event);
}

}  // namespace urxe
