/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels: descriptors through which completion queues report events (IBTA 11.5.1). */
#ifndef INFINIBAND_VERBS_COMP_CHANNEL_H
#define INFINIBAND_VERBS_COMP_CHANNEL_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** Completion channel: `fd` is readable when ibv_get_cq_event has something to return. */
struct ibv_comp_channel {
    struct ibv_context *context;
    int fd;
    int refcnt; /* the library's: completion queues on it */
};

/** Makes a completion channel, which the caller owns. Returns NULL and errno. */
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);

/** Closes and frees a channel. Returns 0, or the errno value: EBUSY while a completion queue is on it. */
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);

/**
 * Takes the next event of a channel, and waits for one unless `fd` is non-blocking: the queue it is of and
 * that queue's context. Each event must be given back with ibv_ack_cq_events. It needs ibv_req_notify_cq
 * before, each time.
 *
 * Returns 0, or -1 and errno.
 */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);

/** Gives `nevents` events of `cq` back. ibv_destroy_cq waits until all are. It takes a lock: better many at
 * once. */
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);

__VERBS_END_DECLS

#endif
