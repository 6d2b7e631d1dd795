// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events, for programs of 2006.
#include "api_1_0/verbs.hh"

namespace {

/// Calls `on` with the member of the event's element that counts, if that is an object of 2006.
template <class OnCq, class OnQp, class OnSrq>
void for_element(ibv_async_event &event, OnCq on_cq, OnQp on_qp, OnSrq on_srq)
{
    switch (event.event_type) {
        case IBV_EVENT_CQ_ERR:
            return on_cq(event.element.cq);
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            return on_qp(event.element.qp);
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            return on_srq(event.element.srq);
        default:
            return;
    }
}

/// The object inside a wrapper that the program knows as an object of today's type.
template <class Wrapper, class Object>
Wrapper &wrapper(Object *object)
{
    return *reinterpret_cast<Wrapper *>(object);
}

}  // namespace

VERBS_EXPORT_1_0(ibv_get_async_event)
int ibv_get_async_event_1_0(ibv_context_1_0 *context, ibv_async_event *event)
{
    int error = ibv_get_async_event(context->real_context, event);
    if (error != 0)
        return error;
    for_element(
        *event, [](ibv_cq *&cq) { cq = static_cast<ibv_cq *>(cq->cq_context); },
        [](ibv_qp *&qp) { qp = static_cast<ibv_qp *>(qp->qp_context); },
        [](ibv_srq *&srq) { srq = static_cast<ibv_srq *>(srq->srq_context); });
    return 0;
}

VERBS_EXPORT_1_0(ibv_ack_async_event) void ibv_ack_async_event_1_0(ibv_async_event *event)
{
    ibv_async_event real = *event;
    for_element(
        real, [](ibv_cq *&cq) { cq = wrapper<ibv_cq_1_0>(cq).real_cq; },
        [](ibv_qp *&qp) { qp = wrapper<ibv_qp_1_0>(qp).real_qp; },
        [](ibv_srq *&srq) { srq = wrapper<ibv_srq_1_0>(srq).real_srq; });
    ibv_ack_async_event(&real);
}
