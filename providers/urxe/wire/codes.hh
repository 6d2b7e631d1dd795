// SPDX-License-Identifier: BSD-2-Clause
// Numbers that the wire and the verbs write as short codes: path MTU, timers, credits, syndromes of the AETH.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace urxe::wire {

constexpr size_t kMinMtu = 256;
constexpr size_t kMaxMtu = 4096;

/// Path MTU in bytes of a code 1 to 5 (the values of ibv_mtu); 0 for others.
constexpr size_t mtu_bytes(unsigned code)
{
    return code >= 1 && code <= 5 ? kMinMtu << (code - 1) : 0;
}

/// The code of a path MTU of exactly that many bytes; 0 when there is none.
constexpr unsigned mtu_code(size_t bytes)
{
    if (bytes < kMinMtu || bytes > kMaxMtu || (bytes & (bytes - 1)) != 0)
        return 0;
    return static_cast<unsigned>(std::countr_zero(bytes) - std::countr_zero(kMinMtu) + 1);
}

/// The largest path MTU code whose packets fit into that many bytes of payload; 0 when not even the smallest
/// does.
constexpr unsigned mtu_code_within(size_t bytes)
{
    if (bytes < kMinMtu)
        return 0;
    return mtu_code(bytes >= kMaxMtu ? kMaxMtu : std::bit_floor(bytes));
}

/// Packets that a message of that length takes: at least one.
constexpr uint64_t packets_of(uint64_t length, size_t mtu)
{
    return length == 0 ? 1 : (length - 1) / mtu + 1;
}

/// How long a requester waits after an RNR NAK, in nanoseconds, by the 5-bit timer code (IBTA 9.7.5.2.8,
/// table of encodings for the RNR NAK timer field). Higher bits are not looked at.
constexpr uint64_t rnr_timer_ns(unsigned code)
{
    constexpr std::array<uint32_t, 32> kHundredthsOfMs = {
        65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
        256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return kHundredthsOfMs[code & 0x1f] * uint64_t{10'000};
}

/// How long a requester waits for an acknowledgement, in nanoseconds: 4.096 µs · 2^code for 5-bit codes (IBTA
/// 9.7.6.1.3); 0, which is for ever, for code 0.
constexpr uint64_t ack_timeout_ns(unsigned code)
{
    code &= 0x1f;
    return code == 0 ? 0 : uint64_t{4096} << code;
}

/// What the two bits behind the reserved one in a syndrome say (IBTA 9.7.5.2.1).
enum class AckType : uint8_t { kAck = 0, kRnrNak = 1, kReserved = 2, kNak = 3 };

/// What the low five bits of a NAK say (IBTA 9.7.5.2.8).
enum class NakCode : uint8_t {
    kPsnSequenceError = 0,
    kInvalidRequest = 1,
    kRemoteAccessError = 2,
    kRemoteOperationalError = 3,
    kInvalidRdRequest = 4,
};

/// The credit code with which a responder says that it counts no credits.
constexpr unsigned kNoCreditLimit = 31;

/// Receives that a credit code below kNoCreditLimit announces (IBTA 9.7.7.2, table of end-to-end credits); 0
/// for others.
constexpr uint32_t credit_count(unsigned code)
{
    if (code >= kNoCreditLimit)
        return 0;
    if (code < 4)
        return code;
    // From 4 on, in turn 2^n and 3 · 2^(n-1).
    unsigned power = code / 2;
    return code % 2 == 0 ? 1u << power : 3u << (power - 1);
}

/// The largest credit code that announces no more than count receives.
constexpr unsigned credit_code(uint32_t count)
{
    unsigned code = kNoCreditLimit - 1;
    while (credit_count(code) > count)
        --code;
    return code;
}

constexpr uint8_t make_syndrome(AckType type, unsigned value)
{
    return static_cast<uint8_t>(static_cast<unsigned>(type) << 5 | (value & 0x1f));
}

constexpr uint8_t ack_syndrome(unsigned code_of_credits)
{
    return make_syndrome(AckType::kAck, code_of_credits);
}

constexpr uint8_t rnr_nak_syndrome(unsigned timer_code)
{
    return make_syndrome(AckType::kRnrNak, timer_code);
}

constexpr uint8_t nak_syndrome(NakCode code)
{
    return make_syndrome(AckType::kNak, static_cast<unsigned>(code));
}

constexpr AckType syndrome_type(uint8_t syndrome)
{
    return static_cast<AckType>(syndrome >> 5 & 3);
}

/// Credit code, timer code or NAK code, as syndrome_type() has it.
constexpr unsigned syndrome_value(uint8_t syndrome)
{
    return syndrome & 0x1fu;
}

}  // namespace urxe::wire
