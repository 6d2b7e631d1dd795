// SPDX-License-Identifier: BSD-2-Clause
// The fake's shared receive queues, XRC domains and address handles, and its asynchronous events.
#include <errno.h>
#include <stdlib.h>

#include "objects.hh"
#include "scenario.hh"

using namespace fake_verbs;

namespace fake_verbs {
namespace {

// The one that XRC queue pairs receive from.
Srq *the_xrc_srq;

Srq *make_srq(ibv_context *context, ibv_pd *pd, void *srq_context, ibv_srq_attr &attr)
{
    log("  max_wr=%u max_sge=%u limit=%u", attr.max_wr, attr.max_sge, attr.srq_limit);
    auto *srq = new Srq();
    srq->srq.context = context;
    srq->srq.pd = pd;
    srq->srq.srq_context = srq_context;
    return srq;
}

int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
    return post_receives("ibv_post_srq_recv", reinterpret_cast<Srq *>(srq)->receives, wr, bad);
}

ibv_srq *create_srq_ex(ibv_context *context, ibv_srq_init_attr_ex *attr)
{
    log("ibv_create_srq_ex(comp_mask=%u, type=%d, pd=%d, xrcd=%d, cq=%d)", attr->comp_mask, attr->srq_type,
        attr->pd != nullptr, attr->xrcd != nullptr, attr->cq != nullptr);
    if (failure("ibv_create_srq_ex"))
        return nullptr;
    the_xrc_srq = make_srq(context, attr->pd, attr->srq_context, attr->attr);
    the_xrc_srq->cq = reinterpret_cast<Cq *>(attr->cq);
    return &the_xrc_srq->srq;
}

int get_srq_num(ibv_srq *, uint32_t *number)
{
    log("ibv_get_srq_num");
    *number = static_cast<uint32_t>(value("srq_num", 0x55));
    return failure("ibv_get_srq_num");
}

ibv_xrcd *open_xrcd(ibv_context *context, ibv_xrcd_init_attr *attr)
{
    log("ibv_open_xrcd(comp_mask=%u, fd=%d, oflags=%#x)", attr->comp_mask, attr->fd >= 0, attr->oflags);
    if (failure("ibv_open_xrcd"))
        return nullptr;
    auto *xrcd = static_cast<ibv_xrcd *>(calloc(1, sizeof(ibv_xrcd)));
    xrcd->context = context;
    return xrcd;
}

int close_xrcd(ibv_xrcd *xrcd)
{
    log("ibv_close_xrcd");
    if (int error = failure("ibv_close_xrcd")) {
        abandon(xrcd);
        return error;
    }
    free(xrcd);
    return 0;
}

}  // namespace

void attach_to_xrc_srq(Qp *qp)
{
    qp->receives = &the_xrc_srq->receives;
    qp->recv_cq = the_xrc_srq->cq;
}

void fill_shared_receive_queues(verbs_context *context)
{
    context->context.ops.post_srq_recv = post_srq_recv;
    context->create_srq_ex = create_srq_ex;
    context->get_srq_num = get_srq_num;
    context->open_xrcd = open_xrcd;
    context->close_xrcd = close_xrcd;
}

}  // namespace fake_verbs

#pragma GCC visibility push(default)
extern "C" {

ibv_srq *ibv_create_srq(ibv_pd *pd, ibv_srq_init_attr *attr)
{
    log("ibv_create_srq");
    return failure("ibv_create_srq") ? nullptr
                                     : &make_srq(pd->context, pd, attr->srq_context, attr->attr)->srq;
}

int ibv_destroy_srq(ibv_srq *srq)
{
    log("ibv_destroy_srq");
    if (int error = failure("ibv_destroy_srq")) {
        abandon(srq);
        return error;
    }
    delete reinterpret_cast<Srq *>(srq);
    return 0;
}

ibv_ah *ibv_create_ah(ibv_pd *pd, ibv_ah_attr *attr)
{
    log("ibv_create_ah");
    log_ah(*attr);
    if (failure("ibv_create_ah"))
        return nullptr;
    auto *ah = static_cast<ibv_ah *>(calloc(1, sizeof(ibv_ah)));
    ah->context = pd->context;
    ah->pd = pd;
    return ah;
}

int ibv_destroy_ah(ibv_ah *ah)
{
    log("ibv_destroy_ah");
    if (int error = failure("ibv_destroy_ah")) {
        abandon(ah);
        return error;
    }
    free(ah);
    return 0;
}

// One event of each type, from 0 to below the value "event_types".
int ibv_get_async_event(ibv_context *, ibv_async_event *event)
{
    static unsigned type;
    if (failure("ibv_get_async_event") || type >= value("event_types", 0)) {
        errno = EIO;
        return -1;
    }
    event->event_type = static_cast<ibv_event_type>(type++);
    event->element.port_num = static_cast<int>(type);
    return 0;
}

void ibv_ack_async_event(ibv_async_event *event)
{
    log("ibv_ack_async_event(%d)", event->event_type);
}

}  // extern "C"
#pragma GCC visibility pop
