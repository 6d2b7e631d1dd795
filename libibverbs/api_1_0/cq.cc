// SPDX-License-Identifier: BSD-2-Clause
// Completion queues and their events, for programs of 2006.
#include "api_1_0/verbs.hh"

using namespace verbs;

VERBS_EXPORT_1_0(ibv_create_cq)
ibv_cq_1_0 *ibv_create_cq_1_0(ibv_context_1_0 *context, int cqe, void *cq_context, ibv_comp_channel *channel,
                              int comp_vector)
{
    Allocated<ibv_cq_1_0> cq = allocate<ibv_cq_1_0>();
    if (!cq)
        return null_with(ENOMEM);
    cq->context = context;
    cq->cq_context = cq_context;
    cq->real_cq = ibv_create_cq(context->real_context, cqe, cq.get(), channel, comp_vector);
    if (cq->real_cq == nullptr)
        return nullptr;
    cq->handle = cq->real_cq->handle;
    cq->cqe = cq->real_cq->cqe;
    return cq.release();
}

VERBS_EXPORT_1_0(ibv_resize_cq) int ibv_resize_cq_1_0(ibv_cq_1_0 *cq, int cqe)
{
    int error = ibv_resize_cq(cq->real_cq, cqe);
    cq->cqe = cq->real_cq->cqe;
    return error;
}

VERBS_EXPORT_1_0(ibv_destroy_cq) int ibv_destroy_cq_1_0(ibv_cq_1_0 *cq)
{
    return api_1_0::destroyed(cq, ibv_destroy_cq(cq->real_cq));
}

VERBS_EXPORT_1_0(ibv_get_cq_event)
int ibv_get_cq_event_1_0(ibv_comp_channel *channel, ibv_cq_1_0 **cq, void **cq_context)
{
    ibv_cq *real = nullptr;
    void *wrapper = nullptr;
    int error = ibv_get_cq_event(channel, &real, &wrapper);
    if (error != 0)
        return error;
    *cq = static_cast<ibv_cq_1_0 *>(wrapper);
    *cq_context = (*cq)->cq_context;
    return 0;
}

VERBS_EXPORT_1_0(ibv_ack_cq_events) void ibv_ack_cq_events_1_0(ibv_cq_1_0 *cq, unsigned int nevents)
{
    ibv_ack_cq_events(cq->real_cq, nevents);
}

int api_1_0::poll_cq(ibv_cq_1_0 *cq, int num_entries, ibv_wc *wc)
{
    return ibv_poll_cq(cq->real_cq, num_entries, wc);
}

int api_1_0::req_notify_cq(ibv_cq_1_0 *cq, int solicited_only)
{
    return ibv_req_notify_cq(cq->real_cq, solicited_only);
}
