// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#include "verbs/srq.hh"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "direct/memory.hh"
#include "verbs/cq.hh"
#include "verbs/pd.hh"
#include "verbs/xrcd.hh"

namespace urxe {

namespace {

/// `xrcd` is null but for an XRC SRQ, `tags` but for one that matches tags; both have a `cq`.
ibv_srq *make(ibv_pd *pd, ibv_srq_init_attr *attr, Xrcd *xrcd, Cq *cq, const ibv_tm_cap *tags)
{
    if (attr->attr.max_wr < 1 || attr->attr.max_wr > kMaxWr || attr->attr.max_sge > direct::kMaxSegments)
        return common::null_with(EINVAL);
    Process &process = process_of(*pd->context);
    auto made = common::member_allocate<Srq>(pd, Resource::kSrq);
    if (!made)
        return nullptr;
    Srq &srq = *made;
    srq.process = &process;
    common::Locked locked(process.lock);
    srq.index = process.srq_indices.take(shared::SrqTable::kCapacity);
    if (srq.index == 0)
        return common::null_with(ENOMEM);
    int error = process.srqs.make(srq.index) ? process.make_entry(process.header().srqs, srq.index) : ENOMEM;
    if (error == 0) {
        srq.shared = process.entry(process.header().srqs, srq.index);
        error = srq.receives.init(process, srq.shared->receives, attr->attr.max_wr, attr->attr.max_sge,
                                  pd_number(pd), true, tags == nullptr ? nullptr : &srq.shared->tags);
    }
    if (error == 0 && tags != nullptr) {
        error = srq.tags.init(process, *srq.shared, srq.index, *cq, *tags);
        if (error != 0)
            srq.receives.destroy(process);
    }
    if (error != 0) {
        process.srq_indices.give(srq.index);
        return common::null_with(error);
    }
    srq.xrcd = xrcd == nullptr ? 0 : xrcd->number;
    srq.shared->xrcd = srq.xrcd;
    srq.shared->cq = cq == nullptr ? 0 : cq->index;
    srq.shared->attention.store(0);
    srq.shared->generation.fetch_add(1);
    process.srqs.set(srq.index, &srq);
    srq.verbs.srq_type = xrcd != nullptr ? IBV_SRQT_XRC : tags != nullptr ? IBV_SRQT_TM : IBV_SRQT_BASIC;
    if (xrcd != nullptr) {
        srq.verbs.xrcd = &xrcd->verbs;
        srq.verbs.srq_num = srq.index;
        ++xrcd->users;
    }
    if (cq != nullptr) {
        srq.verbs.cq = &cq->verbs.cq;
        ++cq->users;
    }
    ibv_srq &ibsrq = srq.verbs.srq;
    ibsrq.context = pd->context;
    ibsrq.srq_context = attr->srq_context;
    ibsrq.pd = pd;
    ibsrq.handle = srq.index;
    srq.events.event.element.srq = &ibsrq;
    pthread_mutex_init(&ibsrq.mutex, nullptr);
    pthread_cond_init(&ibsrq.cond, nullptr);
    pd_ref(pd);
    return &made.release()->verbs.srq;
}

}  // namespace

ibv_srq *srq_create(ibv_pd *pd, ibv_srq_init_attr *attr)
{
    return make(pd, attr, nullptr, nullptr, nullptr);
}

ibv_srq *srq_create_ex(ibv_context *, ibv_srq_init_attr_ex *attr)
{
    static_assert(offsetof(ibv_srq_init_attr_ex, attr) == offsetof(ibv_srq_init_attr, attr));
    constexpr uint32_t kAll = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
    // Basic ones take the other way.
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 ||
        (attr->srq_type != IBV_SRQT_XRC && attr->srq_type != IBV_SRQT_TM))
        return common::null_with(EOPNOTSUPP);
    const bool is_xrc = attr->srq_type == IBV_SRQT_XRC;
    if (attr->comp_mask != (kAll | (is_xrc ? IBV_SRQ_INIT_ATTR_XRCD : IBV_SRQ_INIT_ATTR_TM)) ||
        attr->pd == nullptr || attr->cq == nullptr)
        return common::null_with(EINVAL);
    if (is_xrc ? attr->xrcd == nullptr
               : attr->tm_cap.max_num_tags < 1 || attr->tm_cap.max_num_tags > kMaxTags ||
                     attr->tm_cap.max_ops > kMaxTagOps)
        return common::null_with(EINVAL);
    return make(attr->pd, reinterpret_cast<ibv_srq_init_attr *>(attr),
                is_xrc ? &to_xrcd(attr->xrcd) : nullptr, &to_cq(attr->cq), is_xrc ? nullptr : &attr->tm_cap);
}

int srq_get_num(ibv_srq *srq, uint32_t *number)
{
    if (to_srq(srq).xrcd == 0)
        return EINVAL;
    *number = to_srq(srq).index;
    return 0;
}

int srq_modify(ibv_srq *ibsrq, ibv_srq_attr *attr, int mask)
{
    Srq &srq = to_srq(ibsrq);
    if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0)
        return EINVAL;
    common::Locked locked(srq.process->lock);
    const bool resizes = (mask & IBV_SRQ_MAX_WR) != 0;
    if (resizes && (attr->max_wr < 1 || attr->max_wr > kMaxWr))
        return EINVAL;
    if ((mask & IBV_SRQ_LIMIT) != 0 && attr->srq_limit > (resizes ? attr->max_wr : srq.receives.max_wr()))
        return EINVAL;
    if (resizes)
        if (const int error = srq.receives.resize(*srq.process, attr->max_wr); error != 0)
            return error;
    if ((mask & IBV_SRQ_LIMIT) != 0)
        srq.shared->receives.limit.store(attr->srq_limit, std::memory_order_seq_cst);
    return 0;
}

int srq_query(ibv_srq *ibsrq, ibv_srq_attr *attr)
{
    Srq &srq = to_srq(ibsrq);
    attr->max_wr = srq.receives.max_wr();
    attr->max_sge = srq.receives.max_sge();
    attr->srq_limit = srq.shared->receives.limit.load();
    return 0;
}

int srq_destroy(ibv_srq *ibsrq)
{
    Srq *srq = &to_srq(ibsrq);
    Process &process = *srq->process;
    {
        common::Locked locked(process.lock);
        if (srq->users != 0)
            return EBUSY;
        process.srqs.set(srq->index, nullptr);
        srq->shared->generation.fetch_add(1);
    }
    process.wait_for_accesses();
    process.wait_for_own_threads();
    to_context(ibsrq->context)->events.forget(srq->events);
    wait_for_acks(*ibsrq, [&] { return ibsrq->events_completed == srq->events.given; });
    {
        common::Locked locked(process.lock);
        srq->receives.destroy(process);
        srq->tags.destroy(process);
        if (srq->xrcd != 0)
            --reinterpret_cast<Xrcd *>(srq->verbs.xrcd)->users;
        if (srq->verbs.cq != nullptr)
            --to_cq(srq->verbs.cq).users;
        process.srq_indices.give(srq->index);
    }
    pthread_cond_destroy(&ibsrq->cond);
    pthread_mutex_destroy(&ibsrq->mutex);
    pd_unref(ibsrq->pd);
    common::member_free(srq, static_cast<uint64_t>(Resource::kSrq), srq->membership);
    return 0;
}

int srq_post_ops(ibv_srq *srq, ibv_ops_wr *list, ibv_ops_wr **bad)
{
    return to_srq(srq).tags.post(list, bad);
}

int srq_post_recv(ibv_srq *srq, ibv_recv_wr *list, ibv_recv_wr **bad)
{
    return to_srq(srq).receives.post(list, bad);
}

void srq_attend(Srq &srq)
{
    const uint32_t why = srq.shared->attention.exchange(0);
    if ((why & shared::kAttentionLimit) != 0)
        to_context(srq.verbs.srq.context)->events.raise(srq.events, IBV_EVENT_SRQ_LIMIT_REACHED);
}

void srq_become_inherited(Srq &srq)
{
    srq.receives.become_inherited();
    srq.tags.become_inherited();
    to_context(srq.verbs.srq.context)->events.become_inherited();
}

}  // namespace urxe
