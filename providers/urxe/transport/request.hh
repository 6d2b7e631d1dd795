// SPDX-License-Identifier: BSD-2-Clause
// What a program asked of a send queue, as values, and what requester and responder share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "wire/packet.hh"
#include "wire/psn.hh"

namespace urxe::transport {

/// What a request does. kLocal is executed by the host, and takes no packet: invalidating a local key, binding
/// a memory window.
enum class Op : uint8_t {
    kSend,
    kWrite,
    kRead,
    kCompareSwap,
    kFetchAdd,
    kAtomicWrite,
    kFlush,
    kLocal,
};

/// What the last packet of a message carries besides data.
enum class Extra : uint8_t { kNone, kImmediate, kInvalidate };

/// A request of a send queue. Keys, addresses and operands are numbers in host order.
struct Request {
    Op op;
    Extra extra;          // kSend: any; kWrite: kNone or kImmediate; else kNone
    bool fence;           // waits until all earlier reads and atomics are complete
    bool solicited;       // only in messages that consume a receive
    bool quiet;           // nobody waits for its completion: it need not be acknowledged soon
    uint8_t placement;    // kFlush: as wire::Feth
    uint8_t selectivity;  // kFlush: as wire::Feth
    uint32_t length;      // bytes of the message, at most 2^31; 8 for atomics; kFlush: bytes of the range
    uint32_t rkey;
    uint64_t address;
    uint32_t extra_value;  // the immediate, or the key to invalidate
    uint64_t swap_or_add;
    uint64_t compare;
    uint32_t srqn;      // XRC
    uint32_t dest_qpn;  // UD
    uint32_t qkey;      // UD
};

/// PSNs that a request takes on a path of that MTU (IBTA 9.7.2; a READ takes those of its response).
constexpr uint64_t packets_of(const Request &request, size_t mtu)
{
    switch (request.op) {
        case Op::kSend:
        case Op::kWrite:
        case Op::kRead:
            return wire::packets_of(request.length, mtu);
        case Op::kLocal:
            return 0;
        default:
            return 1;
    }
}

/// Whether a request waits for more than an acknowledgement. max_rd_atomic limits those.
constexpr bool is_answered(Op op)
{
    return op != Op::kSend && op != Op::kWrite && op != Op::kLocal;
}

/// No message is longer (IBTA 9.7.1: 2^31 bytes).
constexpr uint32_t kMaxMessage = uint32_t{1} << 31;

/// The most reads and atomics that a queue pair has outstanding in either direction.
constexpr size_t kMaxRdAtomic = 32;

/// Whether a packet with that key belongs to the partition of a queue pair with the other: the same partition,
/// and not two limited members (IBTA 10.9.3).
constexpr bool pkey_matches(uint16_t own, uint16_t packet)
{
    return ((own ^ packet) & 0x7fff) == 0 && (own & 0x7fff) != 0 && ((own | packet) & 0x8000) != 0;
}

/// Sequence numbers count packets as PSNs do but do not wrap: the low 24 bits are the PSN.
using Sequence = uint64_t;

/// The first one: far enough from zero for everything that may have come before it.
constexpr Sequence first_sequence(uint32_t psn)
{
    return Sequence{wire::kPsnMask} + 1 + (psn & wire::kPsnMask);
}

constexpr uint32_t psn_of(Sequence sequence)
{
    return static_cast<uint32_t>(sequence) & wire::kPsnMask;
}

/// The one nearest to near that has that PSN.
constexpr Sequence sequence_of(uint32_t psn, Sequence near)
{
    return near + static_cast<Sequence>(int64_t{wire::psn_distance(psn_of(near), psn)});
}

/// Writes all of a packet into buffer but its payload and ICRC, and returns the packet's size with them.
/// packet.payload becomes the place in buffer where the payload goes, as payload_in() has it for writing. 0 when
/// there is no such packet.
inline size_t lay_out(wire::Packet &packet, size_t payload_size, std::span<uint8_t> buffer)
{
    const size_t headers_size = wire::opcode_info(packet.bth.opcode).headers_size;
    const size_t tail_size = wire::pad_of(payload_size) + wire::kIcrcSize;
    const size_t size = headers_size + payload_size + tail_size;
    if (buffer.size() < size)
        return 0;
    packet.payload = buffer.subspan(headers_size, payload_size);
    if (wire::build_headers(packet, buffer) == 0)
        return 0;
    std::memset(buffer.data() + headers_size + payload_size, 0, tail_size);
    return size;
}

inline std::span<uint8_t> payload_in(std::span<uint8_t> buffer, const wire::Packet &packet)
{
    return buffer.subspan(wire::opcode_info(packet.bth.opcode).headers_size, packet.payload.size());
}

}  // namespace urxe::transport
