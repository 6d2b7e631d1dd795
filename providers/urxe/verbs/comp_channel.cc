// SPDX-License-Identifier: BSD-2-Clause
// Completion channels: a pipe that has a byte for each event, which peers write by themselves.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "verbs/cq.hh"

namespace urxe {

int comp_channel_create(ibv_context *context, ibv_comp_channel **channel)
{
    common::Allocated<CompChannel> made = common::allocate<CompChannel>();
    if (!made)
        return ENOMEM;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    // Who finds it full has nobody to wake.
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
        const int error = errno;
        close(ends[0]);
        close(ends[1]);
        return error;
    }
    made->channel.fd = ends[0];
    made->write_end = ends[1];
    made->end = pipe_end(ends[1]);
    made->lock.init();
    made->process = &process_of(*context);
    common::Locked locked(made->process->channels_lock);
    made->next = made->process->channels;
    made->process->channels = made.get();
    *channel = &made.release()->channel;
    return 0;
}

int comp_channel_destroy(ibv_comp_channel *channel)
{
    auto *freed = reinterpret_cast<CompChannel *>(channel);
    {
        common::Locked locked(freed->process->channels_lock);
        for (CompChannel **link = &freed->process->channels; *link != nullptr; link = &(*link)->next)
            if (*link == freed) {
                *link = freed->next;
                break;
            }
    }
    close(freed->channel.fd);
    close(freed->write_end);
    freed->lock.destroy();
    std::free(freed);
    return 0;
}

void comp_channel_forget(CompChannel &channel, Cq &cq)
{
    channel.process->wait_for_held_bytes();
    common::Locked locked(channel.lock);
    uint64_t others = 0;
    for (Cq **link = &channel.cqs; *link != nullptr;) {
        if (*link == &cq) {
            *link = cq.next_of_channel;
            continue;
        }
        others += (*link)->shared->events.load(std::memory_order_acquire);
        link = &(*link)->next_of_channel;
    }
    take_back(channel.channel.fd, cq.shared->events.load(), others);
}

int comp_channel_get_event(ibv_comp_channel *ibchannel, ibv_cq **cq)
{
    auto &channel = *reinterpret_cast<CompChannel *>(ibchannel);
    for (;;) {
        char byte;
        const ssize_t count = read(channel.channel.fd, &byte, 1);
        if (count != 1)
            return count < 0 ? errno : EPIPE;
        common::Locked locked(channel.lock);
        for (Cq **link = &channel.cqs; *link != nullptr; link = &(*link)->next_of_channel) {
            Cq *found = *link;
            uint32_t events = found->shared->events.load(std::memory_order_acquire);
            while (events != 0 && !found->shared->events.compare_exchange_weak(events, events - 1)) {
            }
            if (events == 0)
                continue;
            // To the end, so that each has its turn.
            *link = found->next_of_channel;
            found->next_of_channel = nullptr;
            Cq **end = &channel.cqs;
            while (*end != nullptr)
                end = &(*end)->next_of_channel;
            *end = found;
            ++found->num_events;
            *cq = &found->verbs.cq;
            return 0;
        }
        // Of a queue that is gone, or somebody else's byte.
    }
}

}  // namespace urxe
