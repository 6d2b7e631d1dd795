// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events.
#include <infiniband/driver.h>
#include <unistd.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider/userspace.hh"

namespace {

/// What an event is about: which member of ibv_async_event.element counts.
enum class Subject { kCq, kQp, kSrq, kWq, kPort };

Subject subject_of(ibv_event_type type)
{
    switch (type) {
        case IBV_EVENT_CQ_ERR:
            return Subject::kCq;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            return Subject::kQp;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            return Subject::kSrq;
        case IBV_EVENT_WQ_FATAL:
            return Subject::kWq;
        default:
            return Subject::kPort;
    }
}

/// Takes an event of the kernel's, or gives false and errno.
bool read_event(int file, ibv_async_event &event)
{
    ib_uverbs_async_event_desc kernel = {};
    if (read(file, &kernel, sizeof kernel) != static_cast<ssize_t>(sizeof kernel))
        return false;  // the end of the file leaves errno alone. ABI-frozen
    auto element = static_cast<uintptr_t>(kernel.element);
    event.event_type = static_cast<ibv_event_type>(kernel.event_type);
    switch (subject_of(event.event_type)) {
        case Subject::kCq:
            event.element.cq = reinterpret_cast<ibv_cq *>(element);
            break;
        case Subject::kQp:
            event.element.qp = reinterpret_cast<ibv_qp *>(element);
            break;
        case Subject::kSrq:
            event.element.srq = reinterpret_cast<ibv_srq *>(element);
            break;
        case Subject::kWq:
            event.element.wq = reinterpret_cast<ibv_wq *>(element);
            break;
        case Subject::kPort:
            event.element.port_num = static_cast<int>(element);
            break;
    }
    return true;
}

/// Counts one acknowledgement for an object and wakes the thread that destroys it.
template <class Object>
void acknowledge(Object &object, uint32_t &completed)
{
    pthread_mutex_lock(&object.mutex);
    ++completed;
    pthread_cond_signal(&object.cond);
    pthread_mutex_unlock(&object.mutex);
}

}  // namespace

VERBS_EXPORT int ibv_get_async_event(ibv_context *context, ibv_async_event *event)
{
    ibv_async_event next = {};
    if (const verbs_userspace_ops *userspace = verbs::provider::userspace_ops(context)) {
        if (int error = userspace->get_async_event(context, &next); error != 0)
            return verbs::minus_one_with(error);
    } else if (!read_event(context->async_fd, next)) {
        return -1;
    }
    *event = next;
    verbs::provider::ops(context).async_event(context, event);
    return 0;
}

VERBS_EXPORT void ibv_ack_async_event(ibv_async_event *event)
{
    switch (subject_of(event->event_type)) {
        case Subject::kCq:
            acknowledge(*event->element.cq, event->element.cq->async_events_completed);
            break;
        case Subject::kQp:
            acknowledge(*event->element.qp, event->element.qp->events_completed);
            break;
        case Subject::kSrq:
            acknowledge(*event->element.srq, event->element.srq->events_completed);
            break;
        case Subject::kWq:
            acknowledge(*event->element.wq, event->element.wq->events_completed);
            break;
        case Subject::kPort:
            break;
    }
}
