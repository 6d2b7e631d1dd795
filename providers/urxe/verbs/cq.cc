// SPDX-License-Identifier: BSD-2-Clause
// Completion queues: creating, resizing and destroying them, and polling with ibv_poll_cq.
#include "verbs/cq.hh"

#include <sys/ioctl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/memory.hh"
#include "context.hh"
#include "direct/completion.hh"
#include "direct/memory.hh"
#include "verbs/mw.hh"
#include "verbs/pd.hh"
#include "verbs/qp.hh"
#include "verbs/rendezvous.hh"
#include "verbs/srq.hh"

namespace urxe {
namespace {

using shared::Completion;
using shared::CqEntry;

constexpr uint64_t kWcFlags = uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                              IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_FLOW_TAG |
                              IBV_WC_EX_WITH_TM_INFO;

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
    if (ring == 0 || !process.cqs.make(cq.index) || process.make_entry(process.header().cqs, cq.index) != 0) {
        if (ring != 0)
            process.allocator.free(ring, ring_size(cq.mask));
        process.cq_indices.give(cq.index);
        return common::null_with(ENOMEM);
    }
    cq.ring = static_cast<const Completion *>(process.self.heap.at(ring, ring_size(cq.mask)));
    point_to_next(cq);
    cq.shared = process.entry(process.header().cqs, cq.index);
    CqEntry &entry = *cq.shared;
    entry.mask = cq.mask;
    entry.limit = static_cast<uint32_t>(cqe);
    constexpr uint64_t kTimestamps =
        IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    entry.wants_timestamps = (wc_flags & kTimestamps) != 0 ? 1 : 0;
    entry.ring = cq.ring_at = ring;
    entry.produced.store(0);
    entry.claimed = 0;
    entry.consumed.store(0);
    entry.consumed_before = 0;
    entry.overrun.store(0);
    entry.armed.store(shared::Armed::kNo);
    entry.events.store(0);
    entry.event_count = entry.event_period = entry.untold = 0;
    entry.fences.store(process.fences_by_itself ? shared::Fences::kEach : shared::Fences::kSpared,
                       std::memory_order_relaxed);
    entry.event_due.store(0);
    entry.channel = {};
    if (channel != nullptr) {
        cq.channel = reinterpret_cast<CompChannel *>(channel);
        entry.channel = cq.channel->end;
        common::Locked list(cq.channel->lock);
        cq.next_of_channel = cq.channel->cqs;
        cq.channel->cqs = &cq;
    }
    entry.generation.fetch_add(1);
    process.cqs.set(cq.index, &cq);
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

/// What a completion says, apart from the data that came along: read once, and nothing that it cannot say.
struct Said {
    uint32_t qp, qp_generation, request, srq, srq_generation;
    uint32_t byte_len, imm_data, src_qp, wc_flags;
    ibv_wc_status status;
    ibv_wc_opcode receive_opcode;
    uint8_t inline_len, sl;
    uint8_t kind;  ///< shared::CompletionKind
    ibv_wc_tm_info tm_info;

    bool is_send() const { return kind == shared::kSendCompletion; }
    bool is_rendezvous() const { return kind == shared::kRendezvousCompletion; }
    bool is_of_tag() const { return kind == shared::kTagCompletion || is_rendezvous(); }
};

ibv_wc_opcode receive_opcode_of(uint8_t opcode)
{
    switch (opcode) {
        case IBV_WC_RECV_RDMA_WITH_IMM - IBV_WC_RECV:
            return IBV_WC_RECV_RDMA_WITH_IMM;
        case IBV_WC_TM_NO_TAG - IBV_WC_RECV:
            return IBV_WC_TM_NO_TAG;
        default:
            return IBV_WC_RECV;
    }
}

Said read(const Completion &completion)
{
    using shared::once;
    const uint8_t status = once(completion.status);
    const uint8_t kind = once(completion.kind);
    return {.qp = once(completion.qp),
            .qp_generation = once(completion.qp_generation),
            .request = once(completion.request),
            .srq = once(completion.srq),
            .srq_generation = once(completion.srq_generation),
            .byte_len = once(completion.byte_len),
            .imm_data = once(completion.imm_data),
            .src_qp = once(completion.src_qp),
            .wc_flags = uint32_t{once(completion.wc_flags)} &
                        (IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK |
                         IBV_WC_TM_SYNC_REQ | IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID),
            .status =
                status <= IBV_WC_TM_RNDV_INCOMPLETE ? static_cast<ibv_wc_status>(status) : IBV_WC_GENERAL_ERR,
            .receive_opcode = kind == shared::kTagCompletion || kind == shared::kRendezvousCompletion
                                  ? IBV_WC_TM_RECV
                                  : receive_opcode_of(once(completion.opcode)),
            .inline_len = std::min<uint8_t>(once(completion.inline_len), shared::kMaxInline),
            .sl = once(completion.sl),
            .kind = kind,
            .tm_info = {.tag = once(completion.tag), .priv = once(completion.app_ctx)}};
}

/// The QP that a completion of this queue is of; null where there is none. It stays while the queue is busy.
Qp *qp_of(const Cq &cq, const Said &said)
{
    Qp *qp = cq.process->qps.get(said.qp);
    if (qp == nullptr || qp->generation != said.qp_generation)
        return nullptr;
    // What an XRC QP receives goes to the queue of the SRQ.
    const bool is_its = said.is_send() ? qp->send_cq == &cq : qp->recv_cq == &cq || qp->xrcd != 0;
    return is_its ? qp : nullptr;
}

/// A send's completion. False where there is no such request.
bool take_send(Qp &qp, const Said &said, ibv_wc &wc)
{
    const uint32_t first = qp.freed.load(std::memory_order_relaxed);
    if (said.request - first >= qp.posted.load(std::memory_order_acquire) - first)
        return false;
    const Request &request = qp.request(said.request);
    wc.wr_id = request.wr_id;
    wc.opcode = wc_opcode(request);
    wc.byte_len = said.byte_len;
    // Requests before it that were not signaled are done too.
    qp.freed.store(said.request + 1, std::memory_order_release);
    return true;
}

/// Copies what came with a completion into the receive's memory. A region that went since then is not touched any more.
void unpack(Process &process, const uint8_t *data, uint32_t length, const ReceiveQueue::Ended &ended,
            uint32_t pd)
{
    direct::Pieces pieces;
    pieces.clear();
    if (direct::find_pieces(process.self, {ended.segments, ended.num_segments}, pd, IBV_ACCESS_LOCAL_WRITE,
                            pieces) &&
        pieces.length >= length)
        // What is not there is left out.
        static_cast<void>(direct::scatter(process.self, {pieces.piece, pieces.count}, data, length));
}

/// Whether a tag's data is still on its way.
bool tells_of_more(const Said &said)
{
    return said.is_rendezvous() ||
           (said.status == IBV_WC_SUCCESS && (said.wc_flags & IBV_WC_TM_DATA_VALID) == 0);
}

/// What the owner asked of a list of tags. False where it did not.
bool take_tag_op(const Cq &cq, const Said &said, ibv_wc &wc)
{
    Srq *srq = cq.process->srqs.get(said.srq);
    if (srq == nullptr || srq->verbs.cq != &cq.verbs.cq || !srq->matches_tags() ||
        srq->shared->generation.load(std::memory_order_relaxed) != said.srq_generation)
        return false;
    wc = {};
    return srq->tags.complete_op(said.request, wc);
}

/// A receive's completion. False where there is no such receive.
bool take_receive(Qp &qp, const Said &said, const uint8_t *data, ibv_wc &wc)
{
    Srq *srq = qp.srq;
    if (qp.xrcd != 0) {
        // Each request says which of the domain's it is for.
        srq = qp.process->srqs.get(said.srq);
        if (srq == nullptr || srq->xrcd != qp.xrcd ||
            srq->shared->generation.load(std::memory_order_relaxed) != said.srq_generation)
            return false;
    }
    ReceiveQueue &receives = srq != nullptr ? srq->receives : qp.receives;
    ReceiveQueue::Ended ended;
    const bool is_success = said.status == IBV_WC_SUCCESS;
    if (said.is_of_tag()) {
        if (srq == nullptr ||
            !srq->tags.complete(said.request, !tells_of_more(said), said.inline_len != 0, ended))
            return false;
    } else if (!receives.complete(said.request, is_success, said.inline_len != 0, ended)) {
        return false;
    }
    if (said.inline_len != 0 && !said.is_rendezvous())
        unpack(*qp.process, data, said.inline_len, ended, receives.pd());
    wc.wr_id = ended.wr_id;
    wc.opcode = said.receive_opcode;
    // No program is told of more bytes than it made room for.
    const bool fills_receive = is_success && said.receive_opcode != IBV_WC_RECV_RDMA_WITH_IMM;
    wc.byte_len = fills_receive ? std::min(said.byte_len, ended.length) : said.byte_len;
    return true;
}

/// The owner's part of a rendezvous request, once it is known to be one of a tag of the QP's SRQ.
void take_rendezvous(Cq &cq, Qp &qp, uint32_t tag, const uint8_t (&header)[direct::kTagHeader], ibv_wc &wc)
{
    TagQueue &tags = qp.srq->tags;
    ReceiveQueue::Ended ended;
    if (!tags.complete(tag, false, true, ended))
        return;
    wc.status = rendezvous_begin(qp, tag, header, ended);
    wc.byte_len = 0;
    if (wc.status == IBV_WC_SUCCESS)
        return;
    cq.is_busy.exchange(1, std::memory_order_seq_cst);
    if (tags.complete(tag, true, true, ended) && wc.status == IBV_WC_TM_RNDV_INCOMPLETE) {
        wc.byte_len = std::min<uint32_t>(direct::kTagHeader, ended.length);
        unpack(*cq.process, header, wc.byte_len, ended, qp.srq->receives.pd());
    }
    cq.is_busy.store(0, std::memory_order_release);
}

}  // namespace

bool cq_take(Cq &cq, ibv_wc &wc)
{
    // Each of the ring's places at most once, however fast a peer fills them with nonsense.
    for (uint32_t tries = 0; tries <= cq.mask; ++tries) {
        if (!is_there(cq, cq.consumed))
            return false;
        const Completion &completion = cq.ring[cq.consumed & cq.mask];
        const Said said = read(completion);
        // Who takes a QP or a region away sees this, or this thread does not find them any more.
        cq.is_busy.exchange(1, std::memory_order_seq_cst);
        const bool is_tag_op = said.kind == shared::kTagOpCompletion;
        Qp *qp = is_tag_op ? nullptr : qp_of(cq, said);
        const bool is_of_qp =
            qp != nullptr &&
            (said.is_send() ? take_send(*qp, said, wc) : take_receive(*qp, said, completion.data, wc));
        const bool is_real = is_of_qp || (is_tag_op && take_tag_op(cq, said, wc));
        if (is_real) [[likely]] {
            cq.timestamp = shared::once(completion.timestamp);
            cq.tm_info = said.tm_info;
        }
        if (is_of_qp) [[likely]] {
            wc.qp_num = qp->verbs.qp.qp_num;
            wc.status = said.status;
            wc.vendor_err = 0;
            wc.imm_data = said.imm_data;
            wc.src_qp = said.src_qp;
            wc.wc_flags = said.wc_flags;
            wc.pkey_index = 0;
            wc.slid = 0;
            wc.sl = said.sl;
            wc.dlid_path_bits = 0;
            // A peer takes the key of a window away where peers look; here it goes now.
            if ((said.wc_flags & IBV_WC_WITH_INV) != 0) [[unlikely]]
                mw_invalidated(*cq.process, said.imm_data, wc.qp_num);
        }
        cq.is_busy.store(0, std::memory_order_release);
        uint8_t header[direct::kTagHeader];
        if (said.is_rendezvous()) [[unlikely]]
            std::memcpy(header, completion.data, sizeof header);
        ++cq.consumed;
        point_to_next(cq);
        cq.shared->consumed.store(cq.consumed, std::memory_order_release);
        // Who takes the QP away has the queue's lock first.
        if (is_of_qp && said.is_rendezvous()) [[unlikely]]
            take_rendezvous(cq, *qp, said.request, header, wc);
        if (is_real)
            return true;
    }
    return false;
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
        const shared::SharedLocked pushes(entry.lock);
        if (is_there(cq, cq.consumed) && entry.armed.load() != shared::Armed::kNo) {
            direct::count_event(entry);
            is_event_due = true;
        }
    }
    int bytes = 0;
    if (!is_event_due && entry.events.load() != 0 && ioctl(cq.channel->channel.fd, FIONREAD, &bytes) == 0)
        is_event_due = bytes == 0;
    if (is_event_due)
        cq.process->write_byte(cq.process->self, cq.channel->end);
}

void cq_become_inherited(Cq &cq)
{
    cq.lock.unlock();
    cq.is_busy.store(0);
    cq.shared->events.store(0);  // They are the parent's, like the bytes in the channel.
    to_context(cq.verbs.cq.context)->events.become_inherited();
}

void cq_poll_idle(Cq &cq)
{
    Process &process = *cq.process;
    const bool has_link = process.link.is_open();
    if (process.num_waiting.load(std::memory_order_relaxed) != 0 && (!has_link || process.is_time_due()))
        [[unlikely]]
        process.retry_waiting(false);
    if (has_link) [[unlikely]]
        process.poll_link(false, link::Link::Look::kLikely);
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
        const shared::SharedLocked pushes(cq.shared->lock);
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
        old_ring = std::exchange(cq.ring_at, ring);
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

int cq_req_notify(ibv_cq *ibcq, int solicited_only)
{
    CqEntry &entry = *to_cq(ibcq).shared;
    if (to_cq(ibcq).channel == nullptr)
        return 0;  // Nobody will hear of it.
    // Before it is armed: whoever sees that it is not fenced for sees no sooner that it is armed.
    if (entry.fences.load(std::memory_order_relaxed) == shared::Fences::kSpared)
        entry.fences.store(shared::Fences::kBegun, std::memory_order_relaxed);
    // To ask for less than was asked for takes nothing back (IBTA 11.4.2.2).
    if (solicited_only == 0)
        entry.armed.store(shared::Armed::kAny, std::memory_order_release);
    else if (shared::Armed none = shared::Armed::kNo; true)
        entry.armed.compare_exchange_strong(none, shared::Armed::kSolicited, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (entry.fences.load(std::memory_order_relaxed) != shared::Fences::kEach) [[unlikely]] {
        to_cq(ibcq).process->fence_others();
        entry.fences.store(shared::Fences::kEach, std::memory_order_relaxed);
    }
    to_cq(ibcq).process->expects_events();
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
        process.cqs.set(cq->index, nullptr);
        cq->shared->generation.fetch_add(1);
    }
    process.wait_for_accesses();
    process.remove_moderated(*cq);
    if (cq->channel != nullptr)
        comp_channel_forget(*cq->channel, *cq);
    // Events that the program was given must be acknowledged first (IBTA 11.2.8.4).
    to_context(ibcq->context)->events.forget(cq->events);
    wait_for_acks(*ibcq, [&] {
        return ibcq->comp_events_completed == cq->num_events &&
               ibcq->async_events_completed == cq->events.given;
    });
    common::Locked locked(process.lock);
    process.allocator.free(cq->ring_at, ring_size(cq->mask));
    cq->shared->ring = 0;
    process.cq_indices.give(cq->index);
    common::member_free(cq, static_cast<uint64_t>(Resource::kCq), cq->membership);
    return 0;
}

}  // namespace urxe
