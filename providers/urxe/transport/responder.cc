// SPDX-License-Identifier: BSD-2-Clause
// Requests as the responder checks and executes them.
#include "transport/responder.hh"

#include <algorithm>

namespace urxe::transport {

using wire::Kind;
using wire::NakCode;
using wire::Position;
using wire::Transport;

Responder::Responder(const ResponderConfig &config, void *host, const ResponderOps &ops)
    : ops_(ops), host_(host), config_(config), expected_(first_sequence(config.first_psn))
{
    config_.max_dest_rd_atomic = std::min<uint8_t>(config.max_dest_rd_atomic, kMaxRdAtomic);
}

void Responder::receive(const wire::Packet &packet)
{
    const wire::OpcodeInfo &info = wire::opcode_info(packet.bth.opcode);
    if (failed_ || !info.known() || info.response || info.transport != config_.transport)
        return;
    switch (config_.transport) {
        case Transport::kUd:
            return receive_datagram(packet);
        case Transport::kUc:
            return receive_connected(packet, info);
        default:
            return receive_reliable(packet, info);
    }
}

void Responder::receive_malformed(const wire::Bth &bth)
{
    const wire::OpcodeInfo &info = wire::opcode_info(bth.opcode);
    if (failed_ || !is_reliable() || (info.known() && info.response) ||
        (bth.opcode & 0xe0) != static_cast<unsigned>(config_.transport) || bth.psn != expected_psn())
        return;
    fail(NakCode::kInvalidRequest, expected_);
}

void Responder::receive_reliable(const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    const Sequence sequence = sequence_of(packet.bth.psn, expected_);
    if (sequence < expected_)
        return repeat(sequence, packet, info);
    if (sequence > expected_) {
        ops_.count(host_, Counter::kOutOfSequenceRequest);
        // One NAK for each gap (IBTA 9.7.5.2.8).
        if (!is_refused_)
            owe_nak(wire::nak_syndrome(NakCode::kPsnSequenceError), expected_);
        is_refused_ = true;
        return;
    }
    const Outcome outcome = execute(packet, info);
    switch (outcome) {
        case Outcome::kDone:
            break;
        case Outcome::kNoReceive:
            ops_.count(host_, Counter::kSentRnrNak);
            owe_nak(wire::rnr_nak_syndrome(config_.min_rnr_timer), expected_);
            is_refused_ = true;
            return;
        case Outcome::kInvalidRequest:
            return fail(NakCode::kInvalidRequest, expected_);
        case Outcome::kAccessError:
            return fail(NakCode::kRemoteAccessError, expected_);
        case Outcome::kOperationalError:
            return fail(NakCode::kRemoteOperationalError, expected_);
    }
    if (info.ends_message())
        messages_ = wire::psn_add(messages_, 1);
    const bool is_read = info.kind == Kind::kReadRequest;
    expected_ += is_read ? wire::packets_of(packet.reth.length, config_.mtu) : 1;
    is_refused_ = false;
    // A NAK that did not go out yet has been overtaken, and a response acknowledges what came before it.
    const bool is_answered = info.kind != Kind::kSend && info.kind != Kind::kWrite;
    if (due_ == Due::kNak || is_answered)
        due_ = Due::kNothing;
    if (!is_answered && (packet.bth.ack_request || ++unasked_ >= kMostUnasked))
        owe_acknowledge(expected_ - 1);
}

/// UC: a packet out of order loses the message; the next message begins anew (IBTA 9.8.2.2).
void Responder::receive_connected(const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    const Sequence sequence = sequence_of(packet.bth.psn, expected_);
    if (sequence != expected_ || info.starts_message())
        in_message_ = false;
    expected_ = sequence + 1;
    if (!info.starts_message() && !in_message_)
        return;
    const Outcome outcome = execute(packet, info);
    if (outcome == Outcome::kDone)
        return;
    // A receive that was taken waits for the next message.
    in_message_ = false;
    if (outcome == Outcome::kOperationalError)
        fail(NakCode::kRemoteOperationalError, sequence);
}

/// UD: what does not fit is dropped (IBTA 9.8.3.2).
void Responder::receive_datagram(const wire::Packet &packet)
{
    const wire::OpcodeInfo &info = wire::opcode_info(packet.bth.opcode);
    if (packet.deth.qkey != config_.qkey)
        return ops_.count(host_, Counter::kBadQkey);
    if (execute(packet, info) == Outcome::kOperationalError)
        fail(NakCode::kRemoteOperationalError, expected_);
}

Responder::Outcome Responder::execute(const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    if (info.starts_message() == in_message_ || (in_message_ && info.kind != message_))
        return Outcome::kInvalidRequest;
    // wire::parse() knows the rest of the rule.
    if (packet.payload.size() > config_.mtu ||
        (info.payload == wire::PayloadRule::kFull && packet.payload.size() != config_.mtu))
        return Outcome::kInvalidRequest;
    if (config_.transport == Transport::kXrc && !ops_.use_queue(host_, packet.xrceth.srqn))
        return Outcome::kInvalidRequest;
    switch (info.kind) {
        case Kind::kSend:
            return execute_send(packet, info);
        case Kind::kWrite:
        case Kind::kReadRequest: {
            const bool is_write = info.kind == Kind::kWrite;
            const Outcome outcome = is_write ? execute_write(packet, info) : execute_read(packet);
            if (outcome != Outcome::kDone && outcome != Outcome::kNoReceive)
                ops_.remote_done(host_, is_write, false, 0);
            return outcome;
        }
        case Kind::kCompareSwap:
        case Kind::kFetchAdd:
            return execute_atomic(packet, info);
        case Kind::kAtomicWrite:
            return execute_atomic_write(packet);
        case Kind::kFlush:
            return execute_flush(packet);
        default:
            return Outcome::kInvalidRequest;
    }
}

Responder::Outcome Responder::take_receive()
{
    if (!has_receive_)
        has_receive_ = ops_.take_receive(host_);
    return has_receive_ ? Outcome::kDone : Outcome::kNoReceive;
}

Responder::Outcome Responder::execute_send(const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    if (info.starts_message()) {
        if (const Outcome outcome = take_receive(); outcome != Outcome::kDone)
            return outcome;
        done_ = 0;
    }
    const auto size = static_cast<uint32_t>(packet.payload.size());
    if (size > kMaxMessage - done_)
        return Outcome::kInvalidRequest;
    if (size != 0) {
        const ibv_wc_status status = ops_.fill_receive(host_, done_, packet.payload);
        if (status != IBV_WC_SUCCESS)
            return fault_of_receive(status);
    }
    done_ += size;
    in_message_ = !info.ends_message();
    message_ = Kind::kSend;
    if (in_message_)
        return Outcome::kDone;
    if (info.has(wire::kHasIeth) && !ops_.invalidate(host_, packet.ieth.rkey))
        return Outcome::kAccessError;
    finish_receive(packet, info, done_);
    return Outcome::kDone;
}

Responder::Outcome Responder::fault_of_receive(ibv_wc_status status)
{
    receive_status_ = status;
    return status == IBV_WC_LOC_LEN_ERR ? Outcome::kInvalidRequest : Outcome::kOperationalError;
}

Responder::Outcome Responder::execute_write(const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    const auto size = static_cast<uint32_t>(packet.payload.size());
    if (info.starts_message()) {
        if (!permits(IBV_ACCESS_REMOTE_WRITE) || packet.reth.length > kMaxMessage)
            return Outcome::kInvalidRequest;
        done_ = 0;
        write_address_ = packet.reth.address;
        write_rkey_ = packet.reth.rkey;
        write_length_ = packet.reth.length;
    }
    // The last packet is the one that completes the length of the RETH, and none goes beyond it.
    const uint32_t rest = write_length_ - done_;
    if (info.ends_message() ? size != rest : size >= rest)
        return Outcome::kInvalidRequest;
    if (info.position == Position::kFirst &&
        !ops_.remote_check(host_, write_rkey_, write_address_, write_length_, IBV_ACCESS_REMOTE_WRITE))
        return Outcome::kAccessError;
    if (info.has(wire::kHasImmediate)) {
        if (const Outcome outcome = take_receive(); outcome != Outcome::kDone)
            return outcome;
    }
    if (size != 0 && !ops_.remote_write(host_, write_rkey_, write_address_ + done_, packet.payload))
        return Outcome::kAccessError;
    done_ += size;
    in_message_ = !info.ends_message();
    message_ = Kind::kWrite;
    if (info.has(wire::kHasImmediate))
        finish_receive(packet, info, done_);
    if (info.ends_message())
        ops_.remote_done(host_, true, true, done_);
    return Outcome::kDone;
}

Responder::Outcome Responder::execute_read(const wire::Packet &packet)
{
    const wire::Reth &reth = packet.reth;
    if (!permits(IBV_ACCESS_REMOTE_READ) || reth.length > kMaxMessage || !has_room())
        return Outcome::kInvalidRequest;
    if (reth.length != 0 &&
        !ops_.remote_check(host_, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_READ))
        return Outcome::kAccessError;
    Reply &reply = new_reply(Kind::kReadRequest, wire::packets_of(reth.length, config_.mtu));
    reply.address = reth.address;
    reply.rkey = reth.rkey;
    reply.srqn = packet.xrceth.srqn;
    reply.length = reth.length;
    reply.limit = reth.length;
    return Outcome::kDone;
}

Responder::Outcome Responder::execute_atomic(const wire::Packet &packet, const wire::OpcodeInfo &info)
{
    const wire::AtomicEth &atomic = packet.atomic;
    if (!permits(IBV_ACCESS_REMOTE_ATOMIC) || atomic.address % sizeof(uint64_t) != 0 || !has_room())
        return Outcome::kInvalidRequest;
    const Op op = info.kind == Kind::kCompareSwap ? Op::kCompareSwap : Op::kFetchAdd;
    uint64_t original = 0;
    if (!ops_.remote_atomic(host_, op, atomic, original))
        return Outcome::kAccessError;
    new_reply(info.kind, 1).original = original;
    return Outcome::kDone;
}

Responder::Outcome Responder::execute_atomic_write(const wire::Packet &packet)
{
    const wire::Reth &reth = packet.reth;
    if (!permits(IBV_ACCESS_REMOTE_WRITE) || reth.length != sizeof(uint64_t) ||
        reth.address % sizeof(uint64_t) != 0 || !has_room())
        return Outcome::kInvalidRequest;
    if (!ops_.remote_atomic_write(host_, reth.rkey, reth.address, packet.payload.first<8>()))
        return Outcome::kAccessError;
    new_reply(Kind::kAtomicWrite, 1);
    return Outcome::kDone;
}

Responder::Outcome Responder::execute_flush(const wire::Packet &packet)
{
    const uint8_t placement = packet.feth.placement;
    const int access = ((placement & wire::kPlacementGlobal) != 0 ? IBV_ACCESS_FLUSH_GLOBAL : 0) |
                       ((placement & wire::kPlacementPersistent) != 0 ? IBV_ACCESS_FLUSH_PERSISTENT : 0);
    if (access == 0 || !permits(access) || packet.feth.selectivity > wire::kSelectRegion || !has_room())
        return Outcome::kInvalidRequest;
    if (!ops_.remote_flush(host_, packet.reth, packet.feth))
        return Outcome::kAccessError;
    new_reply(Kind::kFlush, 1);
    return Outcome::kDone;
}

void Responder::finish_receive(const wire::Packet &packet, const wire::OpcodeInfo &info, uint32_t byte_count)
{
    Receipt receipt{};
    receipt.status = IBV_WC_SUCCESS;
    receipt.is_write = info.kind == Kind::kWrite;
    receipt.solicited = packet.bth.solicited;
    receipt.byte_count = byte_count;
    if (info.has(wire::kHasImmediate)) {
        receipt.extra = Extra::kImmediate;
        receipt.extra_value = packet.immediate.value;
    } else if (info.has(wire::kHasIeth)) {
        receipt.extra = Extra::kInvalidate;
        receipt.extra_value = packet.ieth.rkey;
    }
    receipt.source_qpn = config_.transport == Transport::kUd ? packet.deth.source_qpn : config_.dest_qpn;
    has_receive_ = false;
    ops_.finish_receive(host_, receipt);
}

void Responder::abandon_receive(ibv_wc_status status)
{
    if (!has_receive_)
        return;
    has_receive_ = false;
    ops_.finish_receive(host_, {.status = status, .source_qpn = config_.dest_qpn});
}

void Responder::stop()
{
    failed_ = true;
    abandon_receive(IBV_WC_WR_FLUSH_ERR);
}

void Responder::fail(NakCode code, Sequence sequence)
{
    failed_ = true;
    if (is_reliable())
        owe_nak(wire::nak_syndrome(code), sequence);
    const bool told = has_receive_ && receive_status_ != IBV_WC_WR_FLUSH_ERR;
    abandon_receive(receive_status_);
    ops_.failed(host_, code, told);
}

}  // namespace urxe::transport
