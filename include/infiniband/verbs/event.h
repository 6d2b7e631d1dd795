/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: what happens to a device's objects outside any call (IBTA 11.6.3). */
#ifndef INFINIBAND_VERBS_EVENT_H
#define INFINIBAND_VERBS_EVENT_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

enum ibv_event_type {
    /* Of element.cq. */
    IBV_EVENT_CQ_ERR, /* the queue overran or is broken */

    /* Of element.qp. */
    IBV_EVENT_QP_FATAL,      /* the QP went to the error state */
    IBV_EVENT_QP_REQ_ERR,    /* a request was invalid for the transport */
    IBV_EVENT_QP_ACCESS_ERR, /* a request violated access rights */
    IBV_EVENT_COMM_EST,      /* a packet arrived on a QP in RTR */
    IBV_EVENT_SQ_DRAINED,    /* the send queue is empty after a move to SQD */
    IBV_EVENT_PATH_MIG,      /* moved to the alternate path */
    IBV_EVENT_PATH_MIG_ERR,

    /* Of the context. */
    IBV_EVENT_DEVICE_FATAL, /* the device is gone or unusable */

    /* Of element.port_num. */
    IBV_EVENT_PORT_ACTIVE,
    IBV_EVENT_PORT_ERR,
    IBV_EVENT_LID_CHANGE,
    IBV_EVENT_PKEY_CHANGE,
    IBV_EVENT_SM_CHANGE,

    /* Of element.srq. */
    IBV_EVENT_SRQ_ERR,
    IBV_EVENT_SRQ_LIMIT_REACHED, /* fewer receives are posted than srq_limit */

    IBV_EVENT_QP_LAST_WQE_REACHED, /* element.qp: takes nothing more from its SRQ */

    /* Of element.port_num. */
    IBV_EVENT_CLIENT_REREGISTER, /* the subnet manager wants subscriptions renewed */
    IBV_EVENT_GID_CHANGE,

    IBV_EVENT_WQ_FATAL, /* element.wq */

    IBV_EVENT_DEVICE_SPEED_CHANGE /* of the context: the speed of a port or of several changed */
};

/** An event and the object it is about. */
struct ibv_async_event {
    union {
        struct ibv_cq *cq;
        struct ibv_qp *qp;
        struct ibv_srq *srq;
        struct ibv_wq *wq;
        int port_num;
    } element;
    enum ibv_event_type event_type;
};

/**
 * Takes the next event of `context`, and waits for one unless async_fd is non-blocking. Each event must be
 * given back once with ibv_ack_async_event. Several threads may call it: an event goes to one of them.
 *
 * Returns 0, or -1 and errno (EAGAIN: non-blocking and there is none).
 */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);

/** Gives an event back. Destroying the object it is about waits until all its events are. */
void ibv_ack_async_event(struct ibv_async_event *event);

/** What to call this event; never NULL. */
const char *ibv_event_type_str(enum ibv_event_type event);

__VERBS_END_DECLS

#endif
