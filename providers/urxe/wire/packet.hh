// SPDX-License-Identifier: BSD-2-Clause
// A RoCEv2 packet: the payload of a UDP datagram to port 4791, from the BTH to the ICRC (IBTA A17).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/codes.hh"
#include "wire/headers.hh"
#include "wire/opcode.hh"

namespace urxe::wire {

/// The UDP port of RoCEv2.
constexpr uint16_t kRoceUdpPort = 4791;

/// The most that headers take: those of an atomic operation over XRC.
constexpr size_t kMaxHeadersSize = kBthSize + kXrcethSize + kAtomicEthSize;

/// No packet is longer.
constexpr size_t kMaxPacketSize = kMaxHeadersSize + kMaxMtu + kIcrcSize;

/// Values of a packet. Only those headers count that the opcode has.
struct Packet {
    Bth bth;
    Deth deth;
    Xrceth xrceth;
    Feth feth;
    Reth reth;
    AtomicEth atomic;
    Aeth aeth;
    AtomicAckEth atomic_ack;
    ImmDt immediate;
    Ieth ieth;
    std::span<const uint8_t> payload;  // without pad
};

/// Why a packet was refused, in the order of the checks.
enum class Reason : uint8_t {
    kNone,           // it is well formed
    kShort,          // no room for a BTH and an ICRC
    kUnknownOpcode,  // reserved, or of a transport that does not exist here
    kTruncated,      // no room for the headers that the opcode has
    kMisaligned,     // not a multiple of four bytes
    kVersion,        // a transport version other than 0
    kPad,            // more pad than payload and pad together
    kPayloadLength,  // a payload length that the opcode never has
};
constexpr size_t kReasons = 8;

/// Takes a packet apart and checks its form; the ICRC is not looked at (icrc.hh does that), nor are the
/// connection's own rules, such as the path MTU. Reads no byte outside of bytes. On success packet holds the
/// headers that the opcode has, and its payload points into bytes; headers that it does not have keep what
/// they held. For every reason but kShort packet.bth is set, since a responder owes an answer to some
/// malformed requests; the rest of packet is as it was.
Reason parse(std::span<const uint8_t> bytes, Packet &packet);

/// Writes the headers of packet into out and returns their size. Pad count and version do not come from
/// packet: the payload's length and the specification give them. 0, and nothing written, when the opcode is
/// unknown, never has such a payload, or out is too small. Whoever sends payload and pad from elsewhere uses
/// this; the payload's bytes are not read.
size_t build_headers(const Packet &packet, std::span<uint8_t> out);

/// Writes the whole packet into out, with a pad of zeroes and zeroes for the ICRC, and returns its size with
/// the ICRC. 0, and nothing written, in the cases of build_headers(). out must not overlap the payload.
size_t build(const Packet &packet, std::span<uint8_t> out);

/// Bytes of pad behind a payload of that length.
constexpr size_t pad_of(size_t payload_size)
{
    return -payload_size & 3;
}

}  // namespace urxe::wire
