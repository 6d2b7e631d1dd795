// SPDX-License-Identifier: BSD-2-Clause
// A provider in the test whose devices exist without the kernel; its events go through pipes.
#pragma once

#include <infiniband/verbs_provider.h>

#include <atomic>

namespace verbs::test {

/// Opens the device of the provider of that name: "whole" has all ops, "hollow" those of contexts alone; "first" knows
/// the ops of userspace devices up to query_pkey, "makes" up to create_comp_channel. Null: it is not listed.
ibv_context *open_userspace_device(const char *provider);

/// Frees what "makes" made.
void free_channel(ibv_comp_channel *channel);

/// Puts an event of the queue into its channel.
void raise(ibv_cq *cq);

/// Puts an asynchronous event into the queue of the context.
void raise(ibv_context *context, const ibv_async_event &event);

/// What the provider's ops saw.
struct Seen {
    std::atomic<int> cq_events;        ///< calls of the op cq_event
    std::atomic<int> async_events;     ///< calls of the op async_event
    std::atomic<int> waiting;          ///< threads that wait for acknowledgements
    std::atomic<int> destroyed;        ///< queues
    std::atomic<int> channels;         ///< that there are
    std::atomic<int> channel_failure;  ///< what making or destroying a channel fails with
    std::atomic<int> region_failure;   ///< what making a region fails with
};
extern Seen seen;

}  // namespace verbs::test
