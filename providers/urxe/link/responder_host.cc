// SPDX-License-Identifier: BSD-2-Clause
// A queue pair as the wire sees it: what its responder does to receives and memory.
#include <algorithm>
#include <bit>
#include <cstring>

#include "direct/grh.hh"
#include "direct/tags.hh"
#include "link/endpoint.hh"

namespace urxe::link {
namespace {

uint32_t to_big(uint32_t host)
{
    uint32_t big;
    wire::store_big<4>(reinterpret_cast<uint8_t *>(&big), host);
    return big;
}

}  // namespace

direct::Target Endpoint::target()
{
    return {*qp_.process, qp_.process->self, *qp_.shared,
            qp_.verbs.qp.qp_type != IBV_QPT_UC && qp_.verbs.qp.qp_type != IBV_QPT_UD, xrc_srq_};
}

/// The protection domain of memory that requests use.
uint32_t Endpoint::pd()
{
    return qp_.xrcd == 0 ? qp_.pd_number : target().pd();
}

void Endpoint::receive(const wire::Packet &packet, wire::Reason reason, const Link::Arrival &arrival)
{
    if (!direct::is_receiving(qp_.shared->state.load(std::memory_order_acquire)))
        return;
    const bool is_datagram = qp_.verbs.qp.qp_type == IBV_QPT_UD;
    // Who is connected hears nobody else.
    if (!is_datagram && (arrival.route.flow.source != route_.flow.destination ||
                         arrival.route.flow.destination != route_.flow.source))
        return link().counters.add(Counter::kBadSource);
    if (!transport::pkey_matches(0xffff, packet.bth.pkey))
        return link().counters.add(Counter::kBadPkey);
    arrival_ = &arrival;
    packet_ = &packet;
    is_touched = !is_datagram;  // A datagram is not answered.
    const wire::OpcodeInfo &info = wire::opcode_info(packet.bth.opcode);
    // An XRC initiator has no responder (IBTA A14).
    const bool answers = qp_.verbs.qp.qp_type != IBV_QPT_XRC_SEND;
    if (reason != wire::Reason::kNone) {
        if (answers)
            responder_->receive_malformed(packet.bth);
    } else if (info.response) {
        has_responses = true;
        if (requester_.has_value())
            requester_->receive(packet, now_ns());
    } else if (answers) {
        if (!is_datagram)
            target().establish();
        responder_->receive(packet);
    }
    arrival_ = nullptr;
    packet_ = nullptr;
}

bool Endpoint::use_queue(uint32_t srqn)
{
    xrc_srq_ = srqn;
    return target().has_xrc_srq();
}

bool Endpoint::take_receive()
{
    direct::MessageStart message;
    const wire::OpcodeInfo &info = wire::opcode_info(packet_->bth.opcode);
    if (info.kind == wire::Kind::kSend && target().tag_matching_srq() != nullptr) [[unlikely]]
        message = packet_->payload.first(std::min(packet_->payload.size(), direct::kTagHeader));
    if (!direct::take_receive(target(), receive_, message))
        return false;
    // One that overruns the queue puts the QP in error.
    if (receive_.is_tag && !receive_.is_rendezvous && !info.ends_message())
        static_cast<void>(direct::complete_match(target(), receive_,
                                                 {.src_qp = qp_.attr.dest_qp_num, .status = IBV_WC_SUCCESS}));
    return true;
}

ibv_wc_status Endpoint::fill_receive(uint32_t offset, std::span<const uint8_t> bytes)
{
    if (receive_.is_tag) [[unlikely]] {
        const uint32_t begin =
            std::clamp(receive_.begin, offset, offset + static_cast<uint32_t>(bytes.size()));
        bytes = bytes.subspan(begin - offset,
                              receive_.delivered(offset + bytes.size()) - receive_.delivered(begin));
        offset = receive_.delivered(begin);
        if (bytes.empty())
            return IBV_WC_SUCCESS;
    }
    return direct::write_receive(qp_.process->self, receive_,
                                 offset + (qp_.verbs.qp.qp_type == IBV_QPT_UD ? sizeof(ibv_grh) : 0), bytes);
}

void Endpoint::finish_receive(const transport::Receipt &receipt)
{
    direct::NewCompletion completion{};
    completion.status = receipt.status;
    completion.opcode = receipt.is_write ? IBV_WC_RECV_RDMA_WITH_IMM - IBV_WC_RECV : 0;
    completion.is_solicited = receipt.solicited;
    completion.byte_len = receipt.byte_count;
    completion.src_qp = receipt.source_qpn;
    if (receipt.extra == transport::Extra::kImmediate) {
        completion.wc_flags = IBV_WC_WITH_IMM;
        completion.imm_data = to_big(receipt.extra_value);
    } else if (receipt.extra == transport::Extra::kInvalidate) {
        completion.wc_flags = IBV_WC_WITH_INV;
        completion.imm_data = receipt.extra_value;
    }
    if (qp_.verbs.qp.qp_type == IBV_QPT_UD && arrival_ != nullptr) {
        Request header{};
        header.datagram.source = std::bit_cast<ibv_gid>(arrival_->route.flow.source);
        header.datagram.destination = std::bit_cast<ibv_gid>(arrival_->route.flow.destination);
        header.datagram.traffic_class = arrival_->route.traffic_class;
        header.datagram.hop_limit = arrival_->route.hop_limit;
        header.length = receipt.byte_count;
        uint8_t grh[sizeof(ibv_grh)];
        direct::write_grh(header, grh);
        if (const ibv_wc_status status = direct::write_receive(qp_.process->self, receive_, 0, grh);
            status != IBV_WC_SUCCESS)
            completion.status = status;
        completion.wc_flags |= IBV_WC_GRH;
        completion.byte_len += sizeof grh;
    }
    direct::complete_receive(target(), receive_, completion);
}

bool Endpoint::find_remote(uint32_t rkey, uint64_t address, uint64_t length, int access, direct::Piece &piece)
{
    return direct::find_memory(qp_.process->self, rkey, pd(), qp_.verbs.qp.qp_num, address, length,
                               static_cast<uint32_t>(access), piece);
}

bool Endpoint::remote_check(uint32_t rkey, uint64_t address, uint32_t length, int access)
{
    direct::Piece piece;
    return find_remote(rkey, address, length, access, piece);
}

bool Endpoint::remote_write(uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes)
{
    direct::Piece to;
    return find_remote(rkey, address, bytes.size(), IBV_ACCESS_REMOTE_WRITE, to) &&
           direct::scatter(qp_.process->self, {&to, 1}, bytes.data(), bytes.size()) == direct::Copied::kAll;
}

bool Endpoint::remote_read(uint32_t rkey, uint64_t address, std::span<uint8_t> out)
{
    direct::Piece from;
    return find_remote(rkey, address, out.size(), IBV_ACCESS_REMOTE_READ, from) &&
           direct::gather(qp_.process->self, out.data(), {&from, 1}, out.size()) == direct::Copied::kAll;
}

bool Endpoint::remote_atomic(transport::Op op, const wire::AtomicEth &atomic, uint64_t &original)
{
    direct::Piece value;
    if (!find_remote(atomic.rkey, atomic.address, sizeof original, IBV_ACCESS_REMOTE_ATOMIC, value))
        return false;
    const bool compares = op == transport::Op::kCompareSwap;
    return direct::atomic(qp_.process->self, value,
                          compares ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
                          compares ? atomic.compare : atomic.swap_or_add, atomic.swap_or_add,
                          original) == direct::Copied::kAll;
}

bool Endpoint::remote_atomic_write(uint32_t rkey, uint64_t address, std::span<const uint8_t, 8> bytes)
{
    direct::Piece to;
    uint64_t value, original;
    std::memcpy(&value, bytes.data(), sizeof value);
    return find_remote(rkey, address, sizeof value, IBV_ACCESS_REMOTE_WRITE, to) &&
           direct::atomic(qp_.process->self, to, IBV_WR_ATOMIC_WRITE, 0, value, original) ==
               direct::Copied::kAll;
}

bool Endpoint::remote_flush(const wire::Reth &reth, const wire::Feth &feth)
{
    direct::Piece covered;
    const uint64_t length = feth.selectivity == wire::kSelectRegion ? 0 : reth.length;
    if ((feth.placement & wire::kPlacementPersistent) != 0 ||
        !find_remote(reth.rkey, reth.address, length, IBV_ACCESS_FLUSH_GLOBAL, covered))
        return false;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return true;
}

void Endpoint::remote_done(bool is_write, bool is_success, uint32_t length)
{
    target().count(is_write ? shared::Counted::kWrites : shared::Counted::kReads, is_success, length);
}

bool Endpoint::invalidate(uint32_t rkey)
{
    return direct::can_invalidate(qp_.process->self, rkey, pd(), qp_.verbs.qp.qp_num) &&
           direct::invalidate(qp_.process->self, rkey, pd(), qp_.verbs.qp.qp_num);
}

void Endpoint::failed(wire::NakCode code, bool told)
{
    uint32_t why = 0;
    if (!told)
        why = code == wire::NakCode::kInvalidRequest      ? shared::kAttentionRequestError
              : code == wire::NakCode::kRemoteAccessError ? shared::kAttentionAccessError
                                                          : shared::kAttentionFatal;
    target().fail(why);
}

}  // namespace urxe::link
