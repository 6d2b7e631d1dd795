// SPDX-License-Identifier: BSD-2-Clause
// Packets as tests write them down, and as they read what an endpoint sent.
#pragma once

#include <vector>

#include "endpoint.hh"

namespace urxe::transport::test {

/// A packet that was sent; its payload points into bytes.
struct Sent {
    Bytes bytes;
    wire::Packet packet;

    wire::Operation operation() const { return static_cast<wire::Operation>(packet.bth.opcode & 0x1f); }
    uint32_t psn() const { return packet.bth.psn; }
    Bytes payload() const { return {packet.payload.begin(), packet.payload.end()}; }
};

inline std::vector<Sent> take_packets(Endpoint &endpoint)
{
    std::vector<Sent> packets;
    for (Bytes &bytes : endpoint.take_sent()) {
        packets.push_back({std::move(bytes), {}});
        wire::parse(packets.back().bytes, packets.back().packet);
    }
    return packets;
}

/// Lets the requester send, and takes that.
inline std::vector<Sent> progress_requester(Endpoint &endpoint, uint64_t now = 0)
{
    endpoint.requester.progress(now);
    return take_packets(endpoint);
}

inline std::vector<Sent> progress_responder(Endpoint &endpoint)
{
    while (endpoint.responder.progress()) {
    }
    return take_packets(endpoint);
}

inline wire::Packet packet_of(wire::Operation operation, uint32_t psn,
                              wire::Transport transport = wire::Transport::kRc)
{
    wire::Packet packet{};
    packet.bth.opcode = wire::opcode_of(transport, operation);
    packet.bth.psn = psn;
    return packet;
}

inline wire::Packet acknowledge_of(uint32_t psn, uint8_t syndrome = wire::ack_syndrome(wire::kNoCreditLimit))
{
    wire::Packet packet = packet_of(wire::Operation::kAcknowledge, psn);
    packet.aeth.syndrome = syndrome;
    return packet;
}

inline wire::Packet nak_of(uint32_t psn, wire::NakCode code)
{
    return acknowledge_of(psn, wire::nak_syndrome(code));
}

/// A part of the response to a READ.
inline wire::Packet data_of(wire::Operation operation, uint32_t psn, std::span<const uint8_t> payload = {})
{
    wire::Packet packet = acknowledge_of(psn);
    packet.bth.opcode = wire::opcode_of(wire::Transport::kRc, operation);
    packet.payload = payload;
    return packet;
}

/// Bytes that differ from one another.
inline Bytes pattern(size_t size, unsigned start = 1)
{
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<uint8_t>(i * 7 + start + i / 256);
    return bytes;
}

inline Bytes part_of(const Bytes &bytes, size_t offset, size_t size)
{
    const auto at = bytes.begin() + static_cast<ptrdiff_t>(offset);
    return {at, at + static_cast<ptrdiff_t>(size)};
}

}  // namespace urxe::transport::test
