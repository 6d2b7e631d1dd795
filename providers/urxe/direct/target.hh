// SPDX-License-Identifier: BSD-2-Clause
// A QP as the target of requests, whoever carries them out: its receives, its completions, its errors.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "direct/completion.hh"
#include "direct/execute.hh"
#include "direct/memory.hh"
#include "verbs/qp.hh"

namespace urxe::direct {

/// Whether a QP in that state takes requests.
constexpr bool is_receiving(uint32_t state)
{
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE;
}

/// A QP of a peer, as its responder. Under an Access to the peer.
struct Target {
    Process &process;
    Peer &peer;
    shared::QpEntry &qp;
    bool is_reliable;
    uint32_t xrc_srq = 0;  ///< of an XRC QP: the SRQ that the request is for

    /// The protection domain whose regions the request may use; that of the SRQ where the QP has none.
    uint32_t pd() const;
    /// Of an XRC QP: whether the SRQ is of its domain (IBTA A14).
    bool has_xrc_srq() const;

    /// The SRQ, if it matches messages with tags; else null.
    shared::SrqEntry *tag_matching_srq() const;

    /// As shared::Receive::taker has it.
    uint64_t taker() const
    {
        return shared::taker_of(index(), qp.generation.load(std::memory_order_relaxed));
    }
    uint32_t index() const { return shared::index_of_qp(qp.qp_num.load(std::memory_order_relaxed)); }
    /// Has the owner look at the QP; bits of shared::Attention.
    void call(uint32_t attention) const;
    /// A request has arrived: tells the owner of the first in RTR.
    void establish() const;
    /// Counts what became of a request where the QP has a counter for it.
    void count(shared::Counted what, bool is_success, uint64_t bytes) const
    {
        if (const uint32_t counter = qp.counters[static_cast<uint32_t>(what)]; counter != 0) [[unlikely]]
            if (shared::CountEntry *entry = peer.heap.entry(peer.heap.header().counts, counter);
                entry != nullptr)
                entry->add(is_success, bytes);
    }
    /// A request that was refused for good puts a reliable responder in the error state (IBTA 9.9.3).
    void fail(uint32_t attention) const;
};

/// The most bytes of a message to a tag-matching SRQ that decide what becomes of it: the two headers of a rendezvous request.
constexpr size_t kTagHeader = 32;

/// A receive that was taken.
struct TakenReceive {
    uint32_t slot;
    uint32_t srq, srq_generation;  ///< 0: the QP's own
    uint32_t length;
    uint32_t pd;
    uint32_t cq;  ///< where it completes
    uint32_t count;

    // What becomes of a message to a tag-matching SRQ.
    bool is_tag;         ///< `slot` is that of a tag
    bool is_unexpected;  ///< no tag takes it, but one might have
    uint8_t opcode;      ///< of its completion, less IBV_WC_RECV; 0: as for others
    uint8_t wc_flags;
    uint32_t app_ctx;
    uint64_t tag;
    uint32_t begin, end;  ///< the bytes of the message that go into the memory
    bool is_rendezvous;   ///< its header is for the owner, who fetches what it names
    uint8_t header[kTagHeader];

    shared::Segment segments[kMaxSegments];

    /// How many of the first `bytes` of the message go into the memory.
    uint32_t delivered(uint64_t bytes) const
    {
        const auto last = static_cast<uint32_t>(std::min<uint64_t>(bytes, end));
        return last - std::min(begin, last);
    }
};

/// What a SEND begins with: the first kTagHeader bytes, or all that there are. It is needed where the target matches tags.
using MessageStart = std::optional<std::span<const uint8_t>>;

/// Takes the oldest receive of the QP or its SRQ, or a tag's that the message matches. False: there is none.
bool take_receive(const Target &target, TakenReceive &taken, const MessageStart &message = std::nullopt);

/// Tells of the match with a tag, before the data is there; what completes it later does not tell of it again.
Pushed complete_match(const Target &target, TakenReceive &receive, NewCompletion completion);

/// Copies bytes that this process has into the memory of a receive of its own, at an offset. The keys are looked at each
/// time, since a region may have gone after the receive was taken.
ibv_wc_status write_receive(Peer &self, const TakenReceive &receive, uint64_t offset,
                            std::span<const uint8_t> bytes);

/// The bytes that a request of this process carries. False where its keys do not permit that.
bool find_payload(Qp &qp, const Request &request, Pieces &pieces);

/// Ends a receive: puts its completion into the queue of the QP. `payload` (with `grh`) is small enough to go along, or is
/// already where it belongs (then inline_len is 0).
Pushed complete_receive(const Target &target, const TakenReceive &receive, NewCompletion completion,
                        std::span<const uint8_t> grh = {}, std::span<const Piece> payload = {},
                        uint32_t inline_len = 0);

/// The completion that the receiver of a request gets.
NewCompletion receive_completion(const Qp &qp, const Request &request);

constexpr Result done(ibv_wc_status status, uint64_t byte_len = 0)
{
    return {Outcome::kDone, status, static_cast<uint32_t>(byte_len)};
}

}  // namespace urxe::direct
