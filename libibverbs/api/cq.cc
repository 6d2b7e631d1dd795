// SPDX-License-Identifier: BSD-2-Clause
// Completion queues and their events.
#include <infiniband/driver.h>
#include <unistd.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_cq *ibv_create_cq(ibv_context *context, int cqe, void *cq_context, ibv_comp_channel *channel,
                                   int comp_vector)
{
    ibv_cq *cq = ops(context).create_cq(context, cqe, channel, comp_vector);
    if (cq != nullptr)
        verbs::provider::cq_init(*cq, *context, channel, cq_context);
    return cq;
}

VERBS_EXPORT int ibv_resize_cq(ibv_cq *cq, int cqe)
{
    return ops(cq->context).resize_cq(cq, cqe);
}

VERBS_EXPORT int ibv_destroy_cq(ibv_cq *cq)
{
    ibv_context *context = cq->context;
    ibv_comp_channel *channel = cq->channel;
    int error = ops(context).destroy_cq(cq);
    if (error == 0 && channel != nullptr) {
        pthread_mutex_lock(&context->mutex);
        --channel->refcnt;
        pthread_mutex_unlock(&context->mutex);
    }
    return error;
}

VERBS_EXPORT int ibv_get_cq_event(ibv_comp_channel *channel, ibv_cq **cq, void **cq_context)
{
    ib_uverbs_comp_event_desc event = {};
    if (read(channel->fd, &event, sizeof event) != static_cast<ssize_t>(sizeof event))
        return -1;
    *cq = reinterpret_cast<ibv_cq *>(static_cast<uintptr_t>(event.cq_handle));
    *cq_context = (*cq)->cq_context;
    ops((*cq)->context).cq_event(*cq);
    return 0;
}

VERBS_EXPORT void ibv_ack_cq_events(ibv_cq *cq, unsigned int nevents)
{
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += nevents;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}
