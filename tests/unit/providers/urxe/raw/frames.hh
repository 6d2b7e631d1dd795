// SPDX-License-Identifier: BSD-2-Clause
// Putting frames together for tests, header by header. Checksums are zero.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace frames {

using Bytes = std::vector<uint8_t>;

struct Mac {
    uint8_t bytes[6];
};
constexpr Mac kTo = {{0x02, 1, 2, 3, 4, 5}}, kFrom = {{0x02, 0xa, 0xb, 0xc, 0xd, 0xe}};
constexpr Mac kMulticast = {{0x01, 0, 0x5e, 1, 2, 3}};

inline void put16(Bytes &bytes, unsigned value)
{
    bytes.push_back(static_cast<uint8_t>(value >> 8));
    bytes.push_back(static_cast<uint8_t>(value));
}

inline void append(Bytes &bytes, const Bytes &more)
{
    bytes.insert(bytes.end(), more.begin(), more.end());
}

struct Tag {
    uint16_t type, value;
};

inline Bytes ethernet(uint16_t type, const Bytes &payload, const Mac &to = kTo,
                      std::initializer_list<Tag> tags = {})
{
    Bytes frame(to.bytes, to.bytes + 6);
    frame.insert(frame.end(), kFrom.bytes, kFrom.bytes + 6);
    for (const Tag &tag : tags) {
        put16(frame, tag.type);
        put16(frame, tag.value);
    }
    put16(frame, type);
    append(frame, payload);
    return frame;
}

/// `fragment` is the field of flags and offset.
inline Bytes ipv4(uint8_t protocol, const char *from, const char *to, const Bytes &payload,
                  uint16_t fragment = 0, size_t options = 0)
{
    Bytes packet = {static_cast<uint8_t>(0x45 + options / 4), 0x10};
    put16(packet, static_cast<unsigned>(20 + options + payload.size()));
    put16(packet, 0x1234);
    put16(packet, fragment);
    packet.push_back(64);
    packet.push_back(protocol);
    put16(packet, 0);
    for (const char *text : {from, to}) {
        const in_addr_t address = inet_addr(text);
        const auto *bytes = reinterpret_cast<const uint8_t *>(&address);
        packet.insert(packet.end(), bytes, bytes + 4);
    }
    packet.resize(packet.size() + options, 1);
    append(packet, payload);
    return packet;
}

inline Bytes ipv6(uint8_t next, const char *from, const char *to, const Bytes &payload)
{
    Bytes packet = {0x6a, 0xb1, 0x23, 0x45};
    put16(packet, static_cast<unsigned>(payload.size()));
    packet.push_back(next);
    packet.push_back(63);
    for (const char *text : {from, to}) {
        in6_addr address;
        inet_pton(AF_INET6, text, &address);
        packet.insert(packet.end(), address.s6_addr, address.s6_addr + 16);
    }
    append(packet, payload);
    return packet;
}

inline Bytes udp(uint16_t from, uint16_t to, const Bytes &payload)
{
    Bytes segment;
    put16(segment, from);
    put16(segment, to);
    put16(segment, static_cast<unsigned>(8 + payload.size()));
    put16(segment, 0);
    append(segment, payload);
    return segment;
}

inline Bytes tcp(uint16_t from, uint16_t to, const Bytes &payload)
{
    Bytes segment;
    put16(segment, from);
    put16(segment, to);
    segment.resize(20);
    segment[12] = 0x50;
    append(segment, payload);
    return segment;
}

/// Of UDP over IPv4, with so many bytes that count from `first` on.
inline Bytes datagram(uint16_t port, size_t length, uint8_t first = 0, const Mac &to = kTo)
{
    Bytes payload(length);
    for (size_t i = 0; i < length; ++i)
        payload[i] = static_cast<uint8_t>(first + i);
    return ethernet(0x0800, ipv4(IPPROTO_UDP, "10.7.0.1", "10.7.0.2", udp(4000, port, payload)), to);
}

}  // namespace frames
