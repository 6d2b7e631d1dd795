// SPDX-License-Identifier: BSD-2-Clause
// The requester's account of what is in flight: acknowledgements, responses, timers, retries.
#include "transport/requester.hh"

#include <algorithm>
#include <utility>

namespace urxe::transport {

using wire::AckType;
using wire::Kind;
using wire::NakCode;

Requester::Requester(const RequesterConfig &config, void *host, const RequesterOps &ops)
    : ops_(ops),
      host_(host),
      config_(config),
      head_first_(first_sequence(config.first_psn)),
      unacknowledged_(head_first_),
      next_(head_first_),
      sent_(head_first_),
      cursor_first_(head_first_),
      acknowledge_asked_(head_first_)
{
    config_.window = std::clamp<uint8_t>(config.window, 1, kMaxWindow);
    config_.max_rd_atomic = std::min<uint8_t>(config.max_rd_atomic, kMaxRdAtomic);
    if (is_unreliable())
        config_.timeout_ns = 0;
}

void Requester::progress(uint64_t now)
{
    now_ = now;
    if (failed_)
        return;
    if (now >= deadline_) {
        deadline_ = kNever;
        if (paused_)
            paused_ = false;
        else if (is_excused())
            rewind();
        else
            retry();
    }
    if (now >= ask_at_)
        ask();
    if (!failed_ && !paused_)
        send_requests();
}

void Requester::receive(const wire::Packet &packet, uint64_t now)
{
    now_ = now;
    const wire::OpcodeInfo &info = wire::opcode_info(packet.bth.opcode);
    if (failed_ || !info.known() || !info.response || info.transport != config_.transport)
        return;
    const Sequence sequence = sequence_of(packet.bth.psn, unacknowledged_);
    if (sequence < unacknowledged_ || sequence >= sent_)
        return;
    if (info.kind == Kind::kAcknowledge)
        take_acknowledge(sequence, packet.aeth.syndrome);
    else
        take_response(sequence, packet);
    if (failed_)
        return;
    // Packets from before a retry may be acknowledged before they are sent again.
    if (next_ < unacknowledged_)
        rewind();
    if (!paused_ && next_ == unacknowledged_)
        deadline_ = kNever;
    if (error_ != IBV_WC_SUCCESS && head_ == error_index_)
        fail(error_);
}

/// Sends again from the oldest unacknowledged packet on.
void Requester::rewind()
{
    next_ = unacknowledged_;
    acknowledge_asked_ = unacknowledged_;
    cursor_ = head_;
    cursor_first_ = head_first_;
    answers_count_ = 0;
}

/// Whether the peer may well have answered: there was no room for what came. That does not count as a try, but for every
/// eighth time, since the peer may be gone all the same.
bool Requester::is_excused()
{
    constexpr uint8_t kMostExcused = 7;
    const uint32_t before = std::exchange(lost_, ops_.lost(host_));
    if (lost_ == before || excused_ == kMostExcused)
        return false;
    ++excused_;
    ops_.count(host_, Counter::kRetry);
    return true;
}

void Requester::retry()
{
    if (retries_ >= config_.retry_count) {
        ops_.count(host_, Counter::kRetryExceeded);
        return fail(IBV_WC_RETRY_EXC_ERR);
    }
    ops_.count(host_, Counter::kRetry);
    ++retries_;
    excused_ = 0;
    deadline_ = kNever;
    rewind();
}

/// A response tells that something was lost. Later ones that tell of the same loss were on their way when the
/// retry was sent, and say nothing new; when the retry gets lost too the timer tells.
void Requester::retry_early()
{
    if (paused_ || repaired_ == unacknowledged_)
        return;
    repaired_ = unacknowledged_;
    retry();
}

/// Goes back to the last packet, which was sent without asking for an acknowledgement.
void Requester::ask()
{
    ask_at_ = kNever;
    if (failed_ || paused_ || next_ != sent_ || next_ == unacknowledged_)
        return;
    while (next_ == cursor_first_)
        cursor_first_ -= packets_of(ops_.request(host_, --cursor_), config_.mtu);
    --next_;
}

void Requester::fail(ibv_wc_status status)
{
    failed_ = true;
    deadline_ = ask_at_ = kNever;
    ops_.complete(host_, head_++, status, 0);
}

void Requester::fail_later(ibv_wc_status status)
{
    error_ = status;
    error_index_ = cursor_;
}

void Requester::advance(Sequence sequence)
{
    unacknowledged_ = sequence;
    retries_ = 0;
    excused_ = 0;
    rnr_retries_ = 0;
    if (!paused_)
        deadline_ = config_.timeout_ns == 0 ? kNever : now_ + config_.timeout_ns;
    while (answers_count_ != 0 && answers_[answers_first_] <= sequence) {
        answers_first_ = static_cast<uint8_t>((answers_first_ + 1) % kMaxRdAtomic);
        --answers_count_;
    }
}

/// Completes the oldest request if all of its packets are acknowledged.
void Requester::complete_head(const Request &request)
{
    if (unacknowledged_ != head_first_ + packets_of(request, config_.mtu))
        return;
    head_first_ = unacknowledged_;
    ops_.complete(host_, head_++, IBV_WC_SUCCESS, request.length);
    complete_local();
}

/// Completes requests that took no packet and that only waited for those before them.
void Requester::complete_local()
{
    while (head_ != fresh_) {
        const Request &request = ops_.request(host_, head_);
        if (request.op != Op::kLocal)
            return;
        ops_.complete(host_, head_++, IBV_WC_SUCCESS, request.length);
    }
}

/// Acknowledges packets before end; false when one of them waits for more than an acknowledgement: a response
/// was lost (IBTA 9.9.2: an implied NAK).
bool Requester::acknowledge(Sequence end)
{
    while (unacknowledged_ < end) {
        const Request &request = ops_.request(host_, head_);
        if (is_answered(request.op))
            return false;
        advance(std::min(end, head_first_ + packets_of(request, config_.mtu)));
        complete_head(request);
    }
    return true;
}

void Requester::take_acknowledge(Sequence sequence, uint8_t syndrome)
{
    const unsigned value = wire::syndrome_value(syndrome);
    switch (wire::syndrome_type(syndrome)) {
        case AckType::kAck:
            if (!acknowledge(sequence + 1))
                retry_early();
            break;
        case AckType::kRnrNak:
            take_rnr_nak(sequence, value);
            break;
        case AckType::kNak:
            take_nak(sequence, value);
            break;
        case AckType::kReserved:
            break;
    }
}

/// A NAK acknowledges what comes before it.
void Requester::take_nak(Sequence sequence, unsigned code)
{
    ibv_wc_status status = IBV_WC_SUCCESS;
    switch (static_cast<NakCode>(code)) {
        case NakCode::kPsnSequenceError:
            ops_.count(host_, Counter::kReceivedSequenceNak);
            break;
        case NakCode::kInvalidRequest:
            status = IBV_WC_REM_INV_REQ_ERR;
            break;
        case NakCode::kRemoteAccessError:
            status = IBV_WC_REM_ACCESS_ERR;
            break;
        case NakCode::kRemoteOperationalError:
            status = IBV_WC_REM_OP_ERR;
            break;
        default:
            return;
    }
    if (!acknowledge(sequence) || status == IBV_WC_SUCCESS)
        retry_early();
    else
        fail(status);
}

void Requester::take_rnr_nak(Sequence sequence, unsigned timer)
{
    ops_.count(host_, Counter::kReceivedRnrNak);
    if (!acknowledge(sequence))
        return retry_early();
    if (paused_)
        return;
    if (config_.rnr_retry != kRnrRetryForEver && rnr_retries_ >= config_.rnr_retry) {
        ops_.count(host_, Counter::kRnrRetryExceeded);
        return fail(IBV_WC_RNR_RETRY_EXC_ERR);
    }
    ++rnr_retries_;
    retries_ = 0;  // someone answers
    rewind();
    paused_ = true;
    deadline_ = now_ + wire::rnr_timer_ns(timer);
}

/// The response to a read, an atomic, a FLUSH or an ATOMIC WRITE. It acknowledges what comes before it.
void Requester::take_response(Sequence sequence, const wire::Packet &packet)
{
    const bool has_aeth = wire::opcode_info(packet.bth.opcode).has(wire::kHasAeth);
    if (has_aeth && wire::syndrome_type(packet.aeth.syndrome) != AckType::kAck)
        return;
    if (!acknowledge(sequence))
        return retry_early();
    const Request &request = ops_.request(host_, head_);
    const ibv_wc_status status = take_data(sequence, request, packet);
    if (status != IBV_WC_SUCCESS)
        return fail(status);
    advance(sequence + 1);
    complete_head(request);
}

ibv_wc_status Requester::take_data(Sequence sequence, const Request &request, const wire::Packet &packet)
{
    const Kind kind = wire::opcode_info(packet.bth.opcode).kind;
    std::span<const uint8_t> bytes = packet.payload;
    uint64_t offset = 0;
    size_t expected = 0;
    switch (request.op) {
        case Op::kRead:
            offset = (sequence - head_first_) * config_.mtu;
            expected = static_cast<size_t>(std::min<uint64_t>(request.length - offset, config_.mtu));
            [[fallthrough]];
        case Op::kFlush:
        case Op::kAtomicWrite:  // they are answered with a read of no byte (IBTA A19)
            if (kind != Kind::kReadResponse || bytes.size() != expected)
                return IBV_WC_BAD_RESP_ERR;
            break;
        case Op::kCompareSwap:
        case Op::kFetchAdd:
            if (kind != Kind::kAtomicAcknowledge)
                return IBV_WC_BAD_RESP_ERR;
            bytes = {reinterpret_cast<const uint8_t *>(&packet.atomic_ack.original),
                     sizeof packet.atomic_ack.original};
            break;
        default:
            return IBV_WC_BAD_RESP_ERR;
    }
    if (bytes.empty())
        return IBV_WC_SUCCESS;
    return ops_.scatter(host_, head_, static_cast<uint32_t>(offset), bytes);
}

}  // namespace urxe::transport
