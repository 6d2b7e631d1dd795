// SPDX-License-Identifier: BSD-2-Clause
// Completion queues and their events.
#include <infiniband/driver.h>
#include <unistd.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider/userspace.hh"

using verbs::Status;
using verbs::provider::ops;

namespace {

/// Takes an event of the channel: the queue that it is of, or null and errno.
ibv_cq *next_event(ibv_comp_channel *channel)
{
    if (const verbs_userspace_ops *userspace = verbs::provider::userspace_ops(channel->context)) {
        ibv_cq *cq = nullptr;
        const int error = userspace->get_cq_event(channel, &cq);
        return error == 0 ? cq : verbs::null_with(error);
    }
    ib_uverbs_comp_event_desc event = {};
    if (read(channel->fd, &event, sizeof event) != static_cast<ssize_t>(sizeof event))
        return nullptr;  // the end of the file leaves errno alone. ABI-frozen
    return reinterpret_cast<ibv_cq *>(static_cast<uintptr_t>(event.cq_handle));
}

}  // namespace

VERBS_EXPORT ibv_cq *ibv_create_cq(ibv_context *context, int cqe, void *cq_context, ibv_comp_channel *channel,
                                   int comp_vector)
{
    if (Status status = verbs::provider::cq_check_channel(*context, channel); !status)
        return verbs::null_with(status.error());
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
    ibv_cq *next = next_event(channel);
    if (next == nullptr)
        return -1;
    *cq = next;
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
