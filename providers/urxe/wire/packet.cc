// SPDX-License-Identifier: BSD-2-Clause
// Packets from bytes and bytes from packets.
#include "wire/packet.hh"

#include <cstring>

namespace urxe::wire {

namespace {

/// Calls visit(header, size) for each header that follows the BTH, in the order of the wire.
template <typename AnyPacket, typename Visit>
void visit_headers(const OpcodeInfo &info, AnyPacket &packet, Visit &&visit)
{
    if (info.has(kHasDeth))
        visit(packet.deth, kDethSize);
    if (info.has(kHasXrceth))
        visit(packet.xrceth, kXrcethSize);
    if (info.has(kHasFeth))
        visit(packet.feth, kFethSize);
    if (info.has(kHasReth))
        visit(packet.reth, kRethSize);
    if (info.has(kHasAtomicEth))
        visit(packet.atomic, kAtomicEthSize);
    if (info.has(kHasAeth))
        visit(packet.aeth, kAethSize);
    if (info.has(kHasAtomicAckEth))
        visit(packet.atomic_ack, kAtomicAckEthSize);
    if (info.has(kHasImmediate))
        visit(packet.immediate, kImmediateSize);
    if (info.has(kHasIeth))
        visit(packet.ieth, kIethSize);
}

}  // namespace

Reason parse(std::span<const uint8_t> bytes, Packet &packet)
{
    if (bytes.size() < kBthSize + kIcrcSize)
        return Reason::kShort;
    const OpcodeInfo &info = opcode_info(bytes[0]);
    decode(bytes.data(), packet.bth);
    if (!info.known())
        return Reason::kUnknownOpcode;
    if (bytes.size() < info.headers_size + kIcrcSize)
        return Reason::kTruncated;
    if (bytes.size() % 4 != 0)
        return Reason::kMisaligned;
    if (bth_version(bytes.data()) != 0)
        return Reason::kVersion;
    size_t padded = bytes.size() - info.headers_size - kIcrcSize;
    if (packet.bth.pad > padded)
        return Reason::kPad;
    size_t payload_size = padded - packet.bth.pad;
    if (!info.allows_payload(payload_size))
        return Reason::kPayloadLength;

    const uint8_t *at = bytes.data() + kBthSize;
    visit_headers(info, packet, [&at](auto &header, size_t size) {
        decode(at, header);
        at += size;
    });
    packet.payload = bytes.subspan(info.headers_size, payload_size);
    return Reason::kNone;
}

size_t build_headers(const Packet &packet, std::span<uint8_t> out)
{
    const OpcodeInfo &info = opcode_info(packet.bth.opcode);
    if (!info.known() || !info.allows_payload(packet.payload.size()) || out.size() < info.headers_size)
        return 0;
    Bth bth = packet.bth;
    bth.pad = static_cast<uint8_t>(pad_of(packet.payload.size()));
    encode(out.data(), bth);
    uint8_t *at = out.data() + kBthSize;
    visit_headers(info, packet, [&at](const auto &header, size_t size) {
        encode(at, header);
        at += size;
    });
    return info.headers_size;
}

size_t build(const Packet &packet, std::span<uint8_t> out)
{
    size_t headers_size = opcode_info(packet.bth.opcode).headers_size;
    size_t payload_size = packet.payload.size();
    size_t tail_size = pad_of(payload_size) + kIcrcSize;
    // Said without a sum that a huge payload could make small.
    if (out.size() < headers_size + tail_size || out.size() - headers_size - tail_size < payload_size)
        return 0;
    if (build_headers(packet, out) == 0)
        return 0;
    uint8_t *at = out.data() + headers_size;
    if (payload_size != 0)
        memcpy(at, packet.payload.data(), payload_size);
    for (size_t i = 0; i < tail_size; ++i)
        at[payload_size + i] = 0;
    return headers_size + payload_size + tail_size;
}

}  // namespace urxe::wire
