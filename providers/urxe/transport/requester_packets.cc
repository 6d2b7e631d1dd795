// SPDX-License-Identifier: BSD-2-Clause
// The requester's packets: which request goes next, and its segments.
#include <algorithm>

#include "transport/requester.hh"

namespace urxe::transport {

using wire::Operation;
using wire::Position;
using wire::Transport;

namespace {

/// Quiet requests wait no longer than this for the next one to ask for an acknowledgement: longer than two programs take that
/// answer each other and sleep in between, for as many messages as are sent until one asks.
constexpr uint64_t kAskNs = 2'000'000;

Operation send_operation(Position position, Extra extra)
{
    switch (position) {
        case Position::kFirst:
            return Operation::kSendFirst;
        case Position::kMiddle:
            return Operation::kSendMiddle;
        case Position::kLast:
            return extra == Extra::kNone        ? Operation::kSendLast
                   : extra == Extra::kImmediate ? Operation::kSendLastWithImmediate
                                                : Operation::kSendLastWithInvalidate;
        case Position::kOnly:
            break;
    }
    return extra == Extra::kNone        ? Operation::kSendOnly
           : extra == Extra::kImmediate ? Operation::kSendOnlyWithImmediate
                                        : Operation::kSendOnlyWithInvalidate;
}

Operation write_operation(Position position, Extra extra)
{
    switch (position) {
        case Position::kFirst:
            return Operation::kWriteFirst;
        case Position::kMiddle:
            return Operation::kWriteMiddle;
        case Position::kLast:
            return extra == Extra::kNone ? Operation::kWriteLast : Operation::kWriteLastWithImmediate;
        case Position::kOnly:
            break;
    }
    return extra == Extra::kNone ? Operation::kWriteOnly : Operation::kWriteOnlyWithImmediate;
}

Operation operation_of(const Request &request, Position position)
{
    switch (request.op) {
        case Op::kSend:
            return send_operation(position, request.extra);
        case Op::kWrite:
            return write_operation(position, request.extra);
        case Op::kCompareSwap:
            return Operation::kCompareSwap;
        case Op::kFetchAdd:
            return Operation::kFetchAdd;
        case Op::kAtomicWrite:
            return Operation::kAtomicWrite;
        case Op::kFlush:
            return Operation::kFlush;
        default:
            return Operation::kReadRequest;
    }
}

Position position_of(bool first, bool last)
{
    if (first)
        return last ? Position::kOnly : Position::kFirst;
    return last ? Position::kLast : Position::kMiddle;
}

}  // namespace

/// What a transport does not do is the program's error (IBTA 9.2.1: operations of each transport).
ibv_wc_status Requester::check(const Request &request) const
{
    const bool is_datagram = config_.transport == Transport::kUd;
    if (is_unreliable() && (is_answered(request.op) || request.extra == Extra::kInvalidate))
        return IBV_WC_LOC_QP_OP_ERR;
    if (is_datagram && request.op == Op::kWrite)
        return IBV_WC_LOC_QP_OP_ERR;
    if (is_answered(request.op) && config_.max_rd_atomic == 0)
        return IBV_WC_LOC_QP_OP_ERR;
    const bool is_too_long = request.length > (is_datagram ? config_.mtu : kMaxMessage);
    if (is_too_long && request.op != Op::kFlush && request.op != Op::kLocal)
        return IBV_WC_LOC_LEN_ERR;
    return IBV_WC_SUCCESS;
}

void Requester::send_requests()
{
    while (cursor_ != tail_ && !(error_ != IBV_WC_SUCCESS && cursor_ == error_index_)) {
        const Request &request = ops_.request(host_, cursor_);
        if (next_ == cursor_first_ && request.fence && answers_count_ != 0)
            break;
        if (const ibv_wc_status status = check(request); status != IBV_WC_SUCCESS) {
            fail_later(status);
            break;
        }
        if (request.op == Op::kLocal) {
            execute();
            continue;
        }
        if (!send_packet(request))
            break;
        sent_ = std::max(sent_, next_);
        if (next_ == cursor_first_ + packets_of(request, config_.mtu)) {
            ++cursor_;
            cursor_first_ = next_;
            if (static_cast<int32_t>(cursor_ - fresh_) > 0)
                fresh_ = cursor_;
        }
        if (is_unreliable())
            acknowledge(next_);
    }
    if (deadline_ == kNever && next_ != unacknowledged_ && config_.timeout_ns != 0)
        deadline_ = now_ + patience();
    if (next_ == unacknowledged_ || next_ == acknowledge_asked_)
        ask_at_ = kNever;
    else if (ask_at_ == kNever)
        ask_at_ = now_ + (config_.timeout_ns == 0 ? kAskNs : std::min(kAskNs, config_.timeout_ns / 2));
    if (error_ != IBV_WC_SUCCESS && head_ == error_index_)
        fail(error_);
}

/// How long a retry waits for an answer: a peer that has too much to do gets more time, up to the four times the timeout
/// that the timer may take (IBTA 9.7.6.1.3).
uint64_t Requester::patience() const
{
    return config_.timeout_ns << std::min<unsigned>(retries_, 2);
}

void Requester::execute()
{
    if (cursor_ == fresh_) {
        const ibv_wc_status status = ops_.execute(host_, cursor_);
        if (status != IBV_WC_SUCCESS)
            return fail_later(status);
        ++fresh_;
    }
    ++cursor_;
    if (next_ == unacknowledged_)
        complete_local();
}

/// PSNs that a READ request asks for at next_. Its parts begin at multiples of a quarter of the window, and a
/// repeated one ends where the first one ended: a responder need not answer one that goes beyond (IBTA
/// 9.7.4.1: duplicate READ requests).
uint64_t Requester::read_part(const Request &request) const
{
    const uint64_t part = std::max(1, config_.window / 4);
    const uint64_t done = next_ - cursor_first_;
    return std::min(packets_of(request, config_.mtu) - done, part - done % part);
}

/// The headers of the packet at next_, which takes count PSNs.
wire::Packet Requester::packet_of(const Request &request, uint64_t count)
{
    const uint64_t done = next_ - cursor_first_;
    const bool is_message = request.op == Op::kSend || request.op == Op::kWrite;
    const bool is_last = done + count == packets_of(request, config_.mtu);
    const auto offset = static_cast<uint32_t>(done * config_.mtu);
    const uint64_t asked = std::max<uint64_t>(1, config_.window / 4);
    wire::Packet packet{};
    const Operation operation = operation_of(request, position_of(done == 0, is_last));
    packet.bth.opcode = wire::opcode_of(config_.transport, operation);
    packet.bth.solicited = request.solicited && is_message && is_last;
    packet.bth.migrated = true;
    packet.bth.pkey = config_.pkey;
    packet.bth.dest_qpn = config_.transport == Transport::kUd ? request.dest_qpn : config_.dest_qpn;
    // What is sent again asks at its end.
    packet.bth.ack_request =
        is_message && !is_unreliable() &&
        ((is_last && !request.quiet) || next_ + 1 == sent_ || next_ + 1 - acknowledge_asked_ >= asked);
    packet.bth.psn = psn_of(next_);
    packet.deth = {.qkey = request.qkey, .source_qpn = config_.own_qpn};
    packet.xrceth = {.srqn = request.srqn};
    packet.feth = {.placement = request.placement, .selectivity = request.selectivity};
    packet.reth = {.address = request.address, .rkey = request.rkey, .length = request.length};
    if (request.op == Op::kRead) {
        const uint64_t rest = request.length - offset;
        packet.reth.address += offset;
        packet.reth.length = static_cast<uint32_t>(std::min<uint64_t>(rest, count * config_.mtu));
    }
    packet.atomic = {.address = request.address,
                     .rkey = request.rkey,
                     .swap_or_add = request.swap_or_add,
                     .compare = request.compare};
    packet.immediate = {.value = request.extra_value};
    packet.ieth = {.rkey = request.extra_value};
    return packet;
}

/// Sends the packet at next_; false when it has to wait.
bool Requester::send_packet(const Request &request)
{
    uint64_t count = 1;
    if (is_answered(request.op)) {
        if (answers_count_ >= config_.max_rd_atomic)
            return false;
        if (request.op == Op::kRead)
            count = read_part(request);
    }
    if (next_ - unacknowledged_ + count > config_.window)
        return false;
    const std::span<uint8_t> buffer = ops_.buffer(host_, &request);
    if (buffer.empty())
        return false;

    uint64_t offset = 0;
    size_t payload_size = 0;
    if (request.op == Op::kSend || request.op == Op::kWrite) {
        offset = (next_ - cursor_first_) * config_.mtu;
        payload_size = static_cast<size_t>(std::min<uint64_t>(request.length - offset, config_.mtu));
    } else if (request.op == Op::kAtomicWrite) {
        payload_size = sizeof(uint64_t);
    }
    wire::Packet packet = packet_of(request, count);
    const size_t size = lay_out(packet, payload_size, buffer);
    ibv_wc_status status = size == 0 ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_SUCCESS;
    if (status == IBV_WC_SUCCESS && payload_size != 0)
        status = ops_.gather(host_, cursor_, static_cast<uint32_t>(offset), payload_in(buffer, packet));
    if (status != IBV_WC_SUCCESS) {
        fail_later(status);
        return false;
    }
    ops_.send(host_, size);
    next_ += count;
    if (packet.bth.ack_request || is_answered(request.op))
        acknowledge_asked_ = next_;
    if (is_answered(request.op)) {
        answers_[(answers_first_ + answers_count_) % kMaxRdAtomic] = next_;
        ++answers_count_;
    }
    return true;
}

}  // namespace urxe::transport
