// SPDX-License-Identifier: BSD-2-Clause
// A QP as the target of requests.
#include "direct/target.hh"

#include <cstring>

#include "direct/tags.hh"

namespace urxe::direct {
namespace {

bool has_immediate(uint8_t opcode)
{
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

}  // namespace

void Target::call(uint32_t attention) const
{
    qp.attention.fetch_or(attention, std::memory_order_release);
    process.call_attention(peer, index());
}

void Target::establish() const
{
    if (qp.is_established.load(std::memory_order_relaxed) == 0 && qp.is_established.exchange(1) == 0 &&
        qp.state.load() == IBV_QPS_RTR)
        call(shared::kAttentionEstablished);
}

void Target::fail(uint32_t attention) const
{
    if (!is_reliable)
        return;
    qp.state.store(IBV_QPS_ERR, std::memory_order_release);
    call(attention | shared::kAttentionError);
}

bool Target::has_xrc_srq() const
{
    const shared::SrqEntry *srq = peer.heap.entry(peer.heap.header().srqs, xrc_srq);
    return srq != nullptr && srq->generation.load(std::memory_order_acquire) % 2 == 1 &&
           srq->xrcd == qp.xrcd && srq->xrcd != 0;
}

uint32_t Target::pd() const
{
    if (qp.type != IBV_QPT_XRC_RECV)
        return qp.pd;
    return has_xrc_srq() ? peer.heap.entry(peer.heap.header().srqs, xrc_srq)->receives.pd : 0;
}

ibv_wc_status write_receive(Peer &self, const TakenReceive &receive, uint64_t offset,
                            std::span<const uint8_t> bytes)
{
    if (offset + bytes.size() > receive.length)
        return IBV_WC_LOC_LEN_ERR;
    Pieces whole, part;
    whole.clear();
    if (!find_pieces(self, {receive.segments, receive.count}, receive.pd, IBV_ACCESS_LOCAL_WRITE, whole) ||
        whole.length < offset + bytes.size())
        return IBV_WC_LOC_PROT_ERR;
    part_of(whole, offset, bytes.size(), part);
    return scatter(self, {part.piece, part.count}, bytes.data(), bytes.size()) == Copied::kAll
               ? IBV_WC_SUCCESS
               : IBV_WC_LOC_PROT_ERR;
}

shared::SrqEntry *Target::tag_matching_srq() const
{
    if (qp.type != IBV_QPT_RC || qp.srq == 0)
        return nullptr;
    shared::SrqEntry *srq = peer.heap.entry(peer.heap.header().srqs, qp.srq);
    return srq == nullptr || srq->tags.slots == 0 ? nullptr : srq;
}

bool take_receive(const Target &target, TakenReceive &taken, const MessageStart &message)
{
    Peer &peer = target.peer;
    shared::ReceiveQueue *queue = &target.qp.receives;
    shared::SrqEntry *srq = nullptr;
    const bool is_xrc = target.qp.type == IBV_QPT_XRC_RECV;
    taken.srq = is_xrc ? target.xrc_srq : target.qp.srq;
    taken.cq = target.qp.recv_cq;
    taken.srq_generation = 0;
    taken.is_tag = taken.is_unexpected = false;
    taken.opcode = taken.wc_flags = 0;
    taken.app_ctx = 0;
    taken.tag = 0;
    taken.is_rendezvous = false;
    taken.begin = 0;
    taken.end = UINT32_MAX;
    if (taken.srq != 0) {
        srq = peer.heap.entry(peer.heap.header().srqs, taken.srq);
        if (srq == nullptr)
            return false;
        queue = &srq->receives;
        if (is_xrc)
            taken.cq = srq->cq;
        taken.srq_generation = srq->generation.load(std::memory_order_relaxed);
    }
    bool is_below_limit = false;
    {
        const shared::SharedLocked locked(queue->lock);
        if (!locked.is_whole()) [[unlikely]] {
            target.fail(shared::kAttentionFatal);
            return false;
        }
        taken.pd = queue->pd;
        if (message.has_value() && srq != nullptr && take_tag(target, *srq, *message, taken)) [[unlikely]]
            return true;
        const uint32_t number = queue->taken.load(std::memory_order_relaxed);
        const uint32_t mask = shared::once(queue->mask);
        const uint64_t slots = uint64_t{mask} + 1;
        // The owner's line is only fetched when it matters: when there may be none, or the program wants to know of few.
        if (queue->posted_before - number - 1 >= slots || queue->limit.load(std::memory_order_relaxed) != 0)
            queue->posted_before = queue->posted.load(std::memory_order_acquire);
        const uint32_t left = shared::once(queue->posted_before) - number;
        if (left == 0 || left > slots)
            return false;
        taken.slot = number & mask;
        if (const shared::Offset place = shared::once(queue->order); place != 0) {
            const auto *order =
                place % alignof(uint32_t) != 0
                    ? nullptr
                    : static_cast<const uint32_t *>(peer.heap.at(place, slots * sizeof(uint32_t)));
            if (order == nullptr)
                return false;
            taken.slot = shared::once(order[taken.slot]) & mask;
        }
        const uint64_t stride = shared::once(queue->stride);
        const shared::Offset place = shared::once(queue->receives);
        auto *receives = static_cast<char *>(place % alignof(shared::Receive) != 0 ||
                                                     stride % alignof(shared::Receive) != 0
                                                 ? nullptr
                                                 : peer.heap.at(place, slots * stride));
        if (receives == nullptr)
            return false;
        auto &receive = *reinterpret_cast<shared::Receive *>(receives + taken.slot * stride);
        taken.count = shared::once(receive.num_segments);
        if (taken.count > kMaxSegments ||
            sizeof(shared::Receive) + taken.count * sizeof(shared::Segment) > stride)
            return false;
        taken.length = receive.length;
        if (taken.count != 0)
            std::memcpy(taken.segments, receive.segments, taken.count * sizeof(shared::Segment));
        if (srq != nullptr) {
            // Were this process to die now, the owner must know whose receive it was.
            receive.taker.store(target.taker() | count_unexpected(*srq, taken), std::memory_order_relaxed);
            is_below_limit = left - 1 < queue->limit.load(std::memory_order_relaxed);
            if (is_below_limit) {
                srq->attention.fetch_or(shared::kAttentionLimit, std::memory_order_release);
                queue->limit.store(0, std::memory_order_relaxed);
            }
        }
        queue->taken.store(number + 1, std::memory_order_release);
    }
    if (is_below_limit)
        target.process.call_attention(peer, shared::QpTable::kCapacity + taken.srq);
    return true;
}

bool find_payload(Qp &qp, const Request &request, Pieces &pieces)
{
    pieces.clear();
    if (!request.is_inline)
        return find_pieces(qp.process->self, {request.segments(), request.num_segments}, qp.pd_number, 0,
                           pieces);
    if (request.length != 0)
        pieces.piece[pieces.count++] = {reinterpret_cast<uintptr_t>(request.inline_data()), request.length,
                                        Way::kPointer};
    pieces.length = request.length;
    return true;
}

namespace {

Pushed push_of(const Target &target, const TakenReceive &receive, NewCompletion &completion,
               std::span<const uint8_t> grh, std::span<const Piece> payload, uint32_t inline_len)
{
    Peer &peer = target.peer;
    shared::CqEntry *cq = peer.heap.entry(peer.heap.header().cqs, receive.cq);
    if (cq == nullptr)
        return Pushed::kOverrun;
    completion.qp = target.index();
    completion.qp_generation = target.qp.generation.load(std::memory_order_relaxed);
    completion.request = receive.slot;
    completion.srq = receive.srq;
    completion.srq_generation = receive.srq_generation;
    completion.kind = !receive.is_tag ? shared::kReceiveCompletion
                      : receive.is_rendezvous && completion.status == IBV_WC_SUCCESS
                          ? shared::kRendezvousCompletion
                          : shared::kTagCompletion;
    completion.app_ctx = receive.app_ctx;
    completion.tag = receive.tag;
    if (receive.opcode != 0)
        completion.opcode = receive.opcode;
    const Pushed pushed = push(target.process, peer, *cq, completion, grh, payload, inline_len);
    if (pushed == Pushed::kOverrun)
        target.fail(shared::kAttentionFatal);
    return pushed;
}

}  // namespace

Pushed complete_match(const Target &target, TakenReceive &receive, NewCompletion completion)
{
    completion.wc_flags = receive.wc_flags & ~uint32_t{IBV_WC_TM_DATA_VALID};
    completion.byte_len = 0;
    completion.is_solicited = false;
    receive.wc_flags &= static_cast<uint8_t>(~IBV_WC_TM_MATCH);
    return push_of(target, receive, completion, {}, {}, 0);
}

Pushed complete_receive(const Target &target, const TakenReceive &receive, NewCompletion completion,
                        std::span<const uint8_t> grh, std::span<const Piece> payload, uint32_t inline_len)
{
    const bool is_success = completion.status == IBV_WC_SUCCESS;
    completion.byte_len = receive.delivered(completion.byte_len);
    completion.wc_flags |= receive.wc_flags;
    const Piece header = {reinterpret_cast<uintptr_t>(receive.header), sizeof receive.header, Way::kPointer};
    const Pushed pushed = receive.is_rendezvous && is_success
                              ? push_of(target, receive, completion, {}, {&header, 1}, sizeof receive.header)
                              : push_of(target, receive, completion, grh, payload, inline_len);
    if (pushed == Pushed::kYes)
        target.count(shared::Counted::kReceives, is_success, completion.byte_len);
    return pushed;
}

NewCompletion receive_completion(const Qp &qp, const Request &request)
{
    NewCompletion completion{};
    completion.status = IBV_WC_SUCCESS;
    completion.byte_len = static_cast<uint32_t>(request.length);
    completion.src_qp = qp.verbs.qp.qp_num;
    completion.is_solicited = request.is_solicited;
    completion.opcode =
        request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM - IBV_WC_RECV : 0;
    if (has_immediate(request.opcode)) {
        completion.wc_flags = IBV_WC_WITH_IMM;
        completion.imm_data = request.imm_data;
    } else if (request.opcode == IBV_WR_SEND_WITH_INV) {
        completion.wc_flags = IBV_WC_WITH_INV;
        completion.imm_data = request.imm_data;
    }
    return completion;
}

}  // namespace urxe::direct
