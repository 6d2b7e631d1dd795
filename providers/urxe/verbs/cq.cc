// SPDX-License-Identifier: BSD-2-Clause
// Completion queues: creating, resizing and destroying them, and polling with ibv_poll_cq.
#include "verbs/cq.hh"

#include <sys/ioctl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/memory.hh"
#include "context.hh"
#include "direct/memory.hh"
#include "verbs/mw.hh"
#include "verbs/pd.hh"
#include "verbs/qp.hh"
#include "verbs/srq.hh"

namespace urxe {
namespace {

using shared::Completion;
using shared::CqEntry;

constexpr uint64_t kWcFlags = uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                              IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

uint64_t ring_size(uint32_t mask)
{
    return (uint64_t{mask} + 1) * sizeof(Completion);
}

/// For cq_is_empty().
void point_to_next(Cq &cq)
{
    cq.next.store(&cq.ring[cq.consumed & cq.mask], std::memory_order_relaxed);
    cq.next_sequence.store(cq.consumed + 1, std::memory_order_relaxed);
}

Cq *make(ibv_context *context, ibv_pd *domain, int cqe, ibv_comp_channel *channel, uint32_t comp_vector,
         uint64_t wc_flags)
{
    if (cqe < 1 || cqe > kMaxCqe || comp_vector >= static_cast<uint32_t>(context->num_comp_vectors))
        return common::null_with(EINVAL);
    Process &process = process_of(*context);
    auto made = common::member_allocate<Cq>(domain, Resource::kCq);
    if (!made)
        return nullptr;
    Cq &cq = *made;
    cq.process = &process;
    cq.mask = std::bit_ceil(static_cast<uint32_t>(cqe)) - 1;
    common::Locked locked(process.lock);
    cq.index = process.cq_indices.take(shared::CqTable::kCapacity);
    if (cq.index == 0)
        return common::null_with(ENOMEM);
    const shared::Offset ring = process.allocator.allocate(ring_size(cq.mask));
    Cq **place = process.cqs.make(cq.index);
    if (ring == 0 || place == nullptr || process.make_entry(process.header().cqs, cq.index) != 0) {
        if (ring != 0)
            process.allocator.free(ring, ring_size(cq.mask));
        process.cq_indices.give(cq.index);
        return common::null_with(ENOMEM);
    }
    cq.ring = static_cast<const Completion *>(process.self.heap.at(ring, ring_size(cq.mask)));
    point_to_next(cq);
    cq.shared = process.self.heap.entry(process.header().cqs, cq.index);
    CqEntry &entry = *cq.shared;
    entry.mask = cq.mask;
    entry.limit = static_cast<uint32_t>(cqe);
    entry.wants_timestamps = (wc_flags & ~uint64_t{IBV_WC_STANDARD_FLAGS}) != 0 ? 1 : 0;
    entry.ring = ring;
    entry.produced.store(0);
    entry.claimed = 0;
    entry.consumed.store(0);
    entry.consumed_before = 0;
    entry.overrun.store(0);
    entry.armed.store(shared::Armed::kNo);
    entry.events.store(0);
    entry.channel = {};
    if (channel != nullptr) {
        cq.channel = reinterpret_cast<CompChannel *>(channel);
        entry.channel = pipe_end(cq.channel->write_end);
        common::Locked list(cq.channel->lock);
        cq.next_of_channel = cq.channel->cqs;
        cq.channel->cqs = &cq;
    }
    entry.generation.fetch_add(1);
    *place = &cq;
    cq.verbs.cq.cqe = cqe;
    cq.verbs.cq.handle = cq.index;
    cq.verbs.cq.context = context;
    cq.events.event.element.cq = &cq.verbs.cq;
    return made.release();
}

/// Whether the completion of that number, from `consumed`, waits to be polled.
bool is_there(const Cq &cq, uint32_t number)
{
    return number - cq.consumed <= cq.mask &&
           cq.ring[number & cq.mask].sequence.load(std::memory_order_acquire) == number + 1;
}

/// A send's completion. False where there is no such request.
bool take_send(Cq &cq, const Completion &completion, ibv_wc &wc)
{
    Qp **found = cq.process->qps.find(completion.qp);
    if (found == nullptr || *found == nullptr || (*found)->generation != completion.qp_generation)
        return false;  // of a QP that is gone
    Qp &qp = **found;
    const uint32_t first = qp.freed.load(std::memory_order_relaxed);
    if (completion.request - first >= qp.posted.load(std::memory_order_acquire) - first)
        return false;
    const Request &request = qp.request(completion.request);
    wc.wr_id = request.wr_id;
    wc.opcode = wc_opcode(request);
    wc.qp_num = qp.verbs.qp.qp_num;
    // Requests before it that were not signaled are done too.
    qp.freed.store(completion.request + 1, std::memory_order_release);
    return true;
}

/// Copies what came with a completion into the receive's memory. A region that went since then is not touched any more.
void unpack(Process &process, const Completion &completion, const ReceiveQueue::Ended &ended, uint32_t pd)
{
    direct::Pieces pieces;
    pieces.clear();
    if (direct::find_pieces(process.self, {ended.segments, ended.num_segments}, pd, IBV_ACCESS_LOCAL_WRITE,
                            pieces) &&
        pieces.length >= completion.inline_len)
        direct::scatter(process, {pieces.piece, pieces.count}, completion.data, completion.inline_len);
}

/// A receive's completion. False where there is no such receive.
bool take_receive(Cq &cq, const Completion &completion, ibv_wc &wc)
{
    Process &process = *cq.process;
    Qp **found = process.qps.find(completion.qp);
    if (found == nullptr || *found == nullptr || (*found)->generation != completion.qp_generation)
        return false;
    Qp &qp = **found;
    Srq *srq = qp.srq;
    if (qp.xrcd != 0) {
        // Each request says which of the domain's it is for.
        Srq **named = process.srqs.find(completion.srq);
        if (named == nullptr || *named == nullptr || (*named)->xrcd != qp.xrcd ||
            (*named)->shared->generation.load(std::memory_order_relaxed) != completion.srq_generation)
            return false;
        srq = *named;
    }
    ReceiveQueue &receives = srq != nullptr ? srq->receives : qp.receives;
    const bool is_inline = completion.inline_len != 0 && completion.inline_len <= shared::kMaxInline;
    ReceiveQueue::Ended ended;
    if (!receives.complete(completion.request, is_inline, ended))
        return false;
    if (is_inline)
        unpack(process, completion, ended, receives.pd());
    // A peer takes the key of a window away where peers look; here it goes now.
    if ((completion.wc_flags & IBV_WC_WITH_INV) != 0) [[unlikely]]
        mw_invalidated(process, completion.imm_data, qp.verbs.qp.qp_num);
    wc.wr_id = ended.wr_id;
    wc.opcode = static_cast<ibv_wc_opcode>(IBV_WC_RECV + completion.opcode);
    wc.qp_num = qp.verbs.qp.qp_num;
    return true;
}

}  // namespace

bool cq_take(Cq &cq, ibv_wc &wc)
{
    for (;;) {
        const Completion &completion = cq.ring[cq.consumed & cq.mask];
        if (completion.sequence.load(std::memory_order_acquire) != cq.consumed + 1)
            return false;
        const bool is_real = completion.kind == shared::kSendCompletion ? take_send(cq, completion, wc)
                                                                        : take_receive(cq, completion, wc);
        if (is_real) [[likely]] {
            wc.status = static_cast<ibv_wc_status>(completion.status);
            wc.vendor_err = 0;
            wc.byte_len = completion.byte_len;
            wc.imm_data = completion.imm_data;
            wc.src_qp = completion.src_qp;
            wc.wc_flags = completion.wc_flags;
            wc.pkey_index = 0;
            wc.slid = 0;
            wc.sl = completion.sl;
            wc.dlid_path_bits = 0;
            cq.timestamp = completion.timestamp;
        }
        ++cq.consumed;
        point_to_next(cq);
        cq.shared->consumed.store(cq.consumed, std::memory_order_release);
        if (is_real)
            return true;
    }
}

void cq_overrun(Cq &cq)
{
    to_context(cq.verbs.cq.context)->events.raise(cq.events, IBV_EVENT_CQ_ERR);
}

void cq_lost_peer(Cq &cq)
{
    if (cq.channel == nullptr)
        return;
    CqEntry &entry = *cq.shared;
    bool is_event_due = false;
    {
        common::Locked polls(cq.lock);
        common::Locked pushes(entry.lock);
        if (is_there(cq, cq.consumed) && entry.armed.load() != shared::Armed::kNo) {
            entry.armed.store(shared::Armed::kNo);
            entry.events.fetch_add(1);
            is_event_due = true;
        }
    }
    int bytes = 0;
    if (!is_event_due && entry.events.load() != 0 && ioctl(cq.channel->channel.fd, FIONREAD, &bytes) == 0)
        is_event_due = bytes == 0;
    if (is_event_due)
        cq.process->write_byte(cq.process->self, entry.channel);
}

void cq_poll_idle(Cq &cq)
{
    Process &process = *cq.process;
    if (process.num_waiting.load(std::memory_order_relaxed) != 0) [[unlikely]]
        process.retry_waiting(false);
    if (process.link.is_open()) [[unlikely]]
        process.poll_link(false);
    process.attend();
}

namespace {

int take_some(Cq &cq, int count, ibv_wc *wc)
{
    int taken = 0;
    if (!cq_is_empty(cq)) {
        common::Locked locked(cq.lock);
        while (taken < count && cq_take(cq, wc[taken]))
            ++taken;
    }
    return taken;
}

}  // namespace

int cq_poll(ibv_cq *ibcq, int count, ibv_wc *wc)
{
    Cq &cq = to_cq(ibcq);
    int taken = take_some(cq, count, wc);
    if (taken == 0) {
        cq_poll_idle(cq);
        if (cq.process->link.is_open()) [[unlikely]]
            taken = take_some(cq, count, wc);
    }
    return taken;
}

ibv_cq *cq_create(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector)
{
    Cq *cq = make(context, nullptr, cqe, channel, static_cast<uint32_t>(comp_vector), 0);
    return cq == nullptr ? nullptr : &cq->verbs.cq;
}

ibv_cq_ex *cq_create_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
    constexpr uint32_t kFlags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
    const uint32_t flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attr->flags : 0;
    if ((attr->comp_mask & ~uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD}) != 0 ||
        (flags & ~kFlags) != 0 || (attr->wc_flags & ~kWcFlags) != 0)
        return common::null_with(EOPNOTSUPP);
    ibv_pd *domain = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 ? attr->parent_domain : nullptr;
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 &&
        (domain == nullptr || common::to_pd(domain)->protection == nullptr))
        return common::null_with(EINVAL);
    Cq *cq = attr->cqe > static_cast<uint32_t>(kMaxCqe)
                 ? common::null_with(EINVAL)
                 : make(context, domain, static_cast<int>(attr->cqe), attr->channel, attr->comp_vector,
                        attr->wc_flags);
    if (cq == nullptr)
        return nullptr;
    cq_ex_init(*cq);
    return &cq->verbs.cq_ex;
}

int cq_resize(ibv_cq *ibcq, int cqe)
{
    Cq &cq = to_cq(ibcq);
    Process &process = *cq.process;
    if (cqe < 1 || cqe > kMaxCqe)
        return EINVAL;
    const uint32_t mask = std::bit_ceil(static_cast<uint32_t>(cqe)) - 1;
    common::Locked locked(process.lock);
    const shared::Offset ring = process.allocator.allocate(ring_size(mask));
    if (ring == 0)
        return ENOMEM;
    auto *bigger = static_cast<Completion *>(process.self.heap.at(ring, ring_size(mask)));
    shared::Offset old_ring;
    const uint32_t old_mask = cq.mask;
    {
        common::Locked polls(cq.lock);
        common::Locked pushes(cq.shared->lock);
        uint32_t produced = cq.consumed;
        while (is_there(cq, produced))
            ++produced;
        if (produced - cq.consumed > static_cast<uint32_t>(cqe)) {
            process.allocator.free(ring, ring_size(mask));
            return EINVAL;
        }
        for (uint32_t number = cq.consumed; number != produced; ++number)
            std::memcpy(static_cast<void *>(&bigger[number & mask]), &cq.ring[number & cq.mask],
                        sizeof(Completion));
        cq.shared->produced.store(produced, std::memory_order_relaxed);
        cq.shared->claimed = produced;
        old_ring = cq.shared->ring;
        cq.shared->ring = ring;
        cq.shared->mask = mask;
        cq.shared->limit = static_cast<uint32_t>(cqe);
        cq.ring = bigger;
        cq.mask = mask;
        point_to_next(cq);
        cq.verbs.cq.cqe = cqe;
    }
    // Who puts completions in holds the lock while it looks at the ring.
    process.allocator.free(old_ring, ring_size(old_mask));
    return 0;
}

int cq_modify(ibv_cq *, ibv_modify_cq_attr *attr)
{
    // An event is made for the first completion anyway: to moderate is to promise at most one per so many.
    return (attr->attr_mask & ~uint32_t{IBV_CQ_ATTR_MODERATE}) != 0 ? EINVAL : 0;
}

int cq_req_notify(ibv_cq *ibcq, int solicited_only)
{
    CqEntry &entry = *to_cq(ibcq).shared;
    if (entry.channel.inode == 0)
        return EINVAL;
    // To ask for less than was asked for takes nothing back (IBTA 11.4.2.2).
    if (solicited_only == 0)
        entry.armed.store(shared::Armed::kAny, std::memory_order_seq_cst);
    else if (shared::Armed none = shared::Armed::kNo; true)
        entry.armed.compare_exchange_strong(none, shared::Armed::kSolicited, std::memory_order_seq_cst);
    to_cq(ibcq).process->fence_others();
    return 0;
}

int cq_destroy(ibv_cq *ibcq)
{
    Cq *cq = &to_cq(ibcq);
    Process &process = *cq->process;
    {
        common::Locked locked(process.lock);
        if (cq->users != 0)
            return EBUSY;
        *process.cqs.find(cq->index) = nullptr;
        cq->shared->generation.fetch_add(1);
    }
    process.wait_for_accesses();
    if (cq->channel != nullptr) {
        common::Locked list(cq->channel->lock);
        for (Cq **link = &cq->channel->cqs; *link != nullptr; link = &(*link)->next_of_channel)
            if (*link == cq) {
                *link = cq->next_of_channel;
                break;
            }
    }
    // Events that the program was given must be acknowledged first (IBTA 11.2.8.4).
    to_context(ibcq->context)->events.forget(cq->events);
    pthread_mutex_lock(&ibcq->mutex);
    while (ibcq->comp_events_completed != cq->num_events || ibcq->async_events_completed != cq->events.given)
        pthread_cond_wait(&ibcq->cond, &ibcq->mutex);
    pthread_mutex_unlock(&ibcq->mutex);
    common::Locked locked(process.lock);
    process.allocator.free(cq->shared->ring, ring_size(cq->mask));
    cq->shared->ring = 0;
    process.cq_indices.give(cq->index);
    common::member_free(cq, static_cast<uint64_t>(Resource::kCq), cq->membership);
    return 0;
}

}  // namespace urxe
