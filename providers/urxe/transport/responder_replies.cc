// SPDX-License-Identifier: BSD-2-Clause
// The responder's replies: acknowledgements, NAKs, responses, and what becomes of requests that come again.
#include <algorithm>

#include "transport/responder.hh"

namespace urxe::transport {

using wire::Kind;
using wire::Operation;

namespace {

constexpr uint8_t kAckSyndrome = wire::ack_syndrome(wire::kNoCreditLimit);

}  // namespace

/// Whether the requester keeps to the number of reads and atomics that it may have outstanding: the response
/// to the oldest one went out, be it that it goes out once more.
bool Responder::has_room() const
{
    if (config_.max_dest_rd_atomic == 0)
        return false;
    const Reply &oldest = replies_[replies_next_];
    return !oldest.is_due() || oldest.is_repeated;
}

/// The reply to the expected request, in the place of the oldest one.
Responder::Reply &Responder::new_reply(Kind kind, uint64_t packets)
{
    Reply &reply = replies_[replies_next_];
    replies_next_ = static_cast<uint8_t>((replies_next_ + 1) % config_.max_dest_rd_atomic);
    reply = {.kind = kind,
             .first = expected_,
             .end = expected_ + packets,
             .asked = expected_,
             .next = expected_,
             .last = expected_ + packets - 1};
    may_be_due_ = true;
    return reply;
}

Responder::Reply *Responder::find_reply(Sequence sequence)
{
    for (Reply &reply : replies_)
        if (sequence >= reply.first && sequence < reply.end)
            return &reply;
    return nullptr;
}

/// A request from before the expected one (IBTA 9.7.4.1.2 and 9.7.5.1.2). Nothing is executed twice but reads.
void Responder::repeat(Sequence sequence, const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    ops_.count(host_, Counter::kDuplicateRequest);
    if (info.kind == Kind::kSend || info.kind == Kind::kWrite) {
        // Up to the next request whose response may have been lost: an acknowledgement beyond it would say so.
        Sequence end = expected_;
        for (const Reply &reply : replies_)
            if (reply.first > sequence)
                end = std::min(end, reply.first);
        return owe_acknowledge(end - 1);
    }
    Reply *reply = find_reply(sequence);
    if (reply == nullptr || reply->kind != info.kind)
        return;
    if (info.kind == Kind::kReadRequest) {
        // Some of the packets that were asked for before, from any on.
        const uint64_t offset = (sequence - reply->first) * config_.mtu;
        const wire::Reth &reth = packet.reth;
        if (reth.rkey != reply->rkey || reth.address != reply->address + offset ||
            reth.length > reply->length - offset || (reth.length == 0) != (reply->length == 0))
            return;
        reply->limit = static_cast<uint32_t>(offset) + reth.length;
        reply->last = sequence + wire::packets_of(reth.length, config_.mtu) - 1;
    }
    reply->asked = sequence;
    reply->next = sequence;
    may_be_due_ = true;
}

void Responder::owe_acknowledge(Sequence last)
{
    if (due_ == Due::kNak || (due_ == Due::kAcknowledge && due_sequence_ > last))
        return;
    unasked_ = 0;
    due_ = Due::kAcknowledge;
    due_syndrome_ = kAckSyndrome;
    due_sequence_ = last;
}

void Responder::owe_nak(uint8_t syndrome, Sequence sequence)
{
    due_ = Due::kNak;
    due_syndrome_ = syndrome;
    due_sequence_ = sequence;
}

bool Responder::progress()
{
    unsigned left = kBurst;
    while (may_be_due_) {
        Reply *oldest = nullptr;
        for (Reply &reply : replies_)
            if (reply.is_due() && (oldest == nullptr || reply.first < oldest->first))
                oldest = &reply;
        may_be_due_ = oldest != nullptr;
        while (oldest != nullptr && oldest->is_due())
            if (left-- == 0 || !send_reply(*oldest))
                return true;
    }
    return !send_owed();
}

wire::Packet Responder::packet_of(Operation operation, Sequence sequence, uint8_t syndrome) const
{
    wire::Packet packet{};
    packet.bth.opcode = wire::opcode_of(config_.transport, operation);
    packet.bth.migrated = true;
    packet.bth.pkey = config_.pkey;
    packet.bth.dest_qpn = config_.dest_qpn;
    packet.bth.psn = psn_of(sequence);
    packet.aeth = {.syndrome = syndrome, .msn = messages_};
    return packet;
}

/// Sends the acknowledgement or NAK that follows all responses; false when it has to wait.
bool Responder::send_owed()
{
    if (due_ == Due::kNothing)
        return true;
    const std::span<uint8_t> buffer = ops_.buffer(host_, nullptr);
    if (buffer.empty())
        return false;
    wire::Packet packet = packet_of(Operation::kAcknowledge, due_sequence_, due_syndrome_);
    ops_.send(host_, lay_out(packet, 0, buffer));
    due_ = Due::kNothing;
    return true;
}

/// Sends the next packet of a response; false when it has to wait.
bool Responder::send_reply(Reply &reply)
{
    const std::span<uint8_t> buffer = ops_.buffer(host_, nullptr);
    if (buffer.empty())
        return false;
    switch (reply.kind) {
        case Kind::kReadRequest:
            if (!send_read(reply, buffer))
                return true;
            break;
        case Kind::kCompareSwap:
        case Kind::kFetchAdd: {
            wire::Packet packet = packet_of(Operation::kAtomicAcknowledge, reply.next, kAckSyndrome);
            packet.atomic_ack = {.original = reply.original};
            ops_.send(host_, lay_out(packet, 0, buffer));
            break;
        }
        default: {
            wire::Packet packet = packet_of(Operation::kReadResponseOnly, reply.next, kAckSyndrome);
            ops_.send(host_, lay_out(packet, 0, buffer));
        }
    }
    ++reply.next;
    if (!reply.is_due()) {
        if (reply.kind == Kind::kReadRequest && !reply.is_repeated)
            ops_.remote_done(host_, false, true, reply.length);
        reply.is_repeated = true;
    }
    return true;
}

/// One packet of read data; false when the memory cannot be read any more, which ends the connection.
bool Responder::send_read(Reply &reply, std::span<uint8_t> buffer)
{
    const uint64_t offset = (reply.next - reply.first) * config_.mtu;
    const auto size = static_cast<size_t>(std::min<uint64_t>(reply.limit - offset, config_.mtu));
    const bool is_first = reply.next == reply.asked;
    const bool is_last = reply.next == reply.last;
    const Operation operation = is_first && is_last ? Operation::kReadResponseOnly
                                : is_first          ? Operation::kReadResponseFirst
                                : is_last           ? Operation::kReadResponseLast
                                                    : Operation::kReadResponseMiddle;
    wire::Packet packet = packet_of(operation, reply.next, kAckSyndrome);
    const size_t packet_size = lay_out(packet, size, buffer);
    if (config_.transport == wire::Transport::kXrc)
        ops_.use_queue(host_, reply.srqn);
    if (size != 0 &&
        !ops_.remote_read(host_, reply.rkey, reply.address + offset, payload_in(buffer, packet))) {
        const Sequence sequence = reply.next;
        for (Reply &one : replies_)
            one.next = one.last + 1;
        if (!failed_) {
            ops_.remote_done(host_, false, false, 0);
            fail(wire::NakCode::kRemoteAccessError, sequence);
        }
        return false;
    }
    ops_.send(host_, packet_size);
    return true;
}

}  // namespace urxe::transport
