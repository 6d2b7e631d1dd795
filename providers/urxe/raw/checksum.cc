// SPDX-License-Identifier: BSD-2-Clause
// Computing the checksums of IP, TCP and UDP.
#include "raw/checksum.hh"

#include <netinet/in.h>

namespace urxe::raw {
namespace {

std::span<const uint8_t> network_header(std::span<const uint8_t> frame, const Headers &headers)
{
    return frame.subspan(headers.network_at, size_t{4} * (frame[headers.network_at] & 0xf));
}

void store(uint8_t *to, uint16_t value)
{
    to[0] = static_cast<uint8_t>(value >> 8);
    to[1] = static_cast<uint8_t>(value);
}

}  // namespace

uint16_t ones_sum(std::span<const uint8_t> bytes, uint32_t sum)
{
    size_t i = 0;
    uint64_t total = sum;
    for (; i + 1 < bytes.size(); i += 2)
        total += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    if (i < bytes.size())
        total += static_cast<uint32_t>(bytes[i] << 8);
    while (total >> 16 != 0)
        total = (total & 0xffff) + (total >> 16);
    return static_cast<uint16_t>(total);
}

bool network_checksum_is_right(std::span<const uint8_t> frame, const Headers &headers)
{
    return headers.has_ipv6 || (headers.has_ipv4 && ones_sum(network_header(frame, headers)) == 0xffff);
}

void set_checksums(std::span<uint8_t> frame, const Headers &headers)
{
    if (headers.has_ipv4) {
        uint8_t *checksum = &frame[headers.network_at + 10];
        store(checksum, 0);
        store(checksum, static_cast<uint16_t>(~ones_sum(network_header(frame, headers))));
    }
    if (headers.transport == 0 || headers.is_fragment)
        return;
    const bool is_udp = headers.transport == IPPROTO_UDP;
    const std::span<uint8_t> segment =
        frame.subspan(headers.transport_at, headers.end - headers.transport_at);
    uint8_t *checksum = &segment[is_udp ? 6 : 16];
    store(checksum, 0);
    // The pseudo header (RFC 768, RFC 8200 8.1).
    const auto addresses = headers.has_ipv4
                               ? std::span<const uint8_t>(frame).subspan(headers.network_at + 12, 8)
                               : std::span<const uint8_t>(frame).subspan(headers.network_at + 8, 32);
    const uint32_t pseudo = ones_sum(addresses, headers.transport + static_cast<uint32_t>(segment.size()));
    const auto value = static_cast<uint16_t>(~ones_sum(segment, pseudo));
    store(checksum, is_udp && value == 0 ? 0xffff : value);
}

}  // namespace urxe::raw
