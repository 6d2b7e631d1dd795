// SPDX-License-Identifier: BSD-2-Clause
// Cutting frames into those that they stand for.
#include "raw/segment.hh"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "raw/checksum.hh"

namespace urxe::raw {
namespace {

/// Where the payload begins; 0: no frame of this kind is cut.
size_t payload_at(std::span<const uint8_t> frame, const Headers &headers)
{
    if (headers.transport == 0 || headers.is_fragment)
        return 0;
    const size_t header =
        headers.transport == IPPROTO_UDP ? 8 : size_t{4} * (frame[headers.transport_at + 12] >> 4);
    const size_t at = headers.transport_at + header;
    return header < 8 || at > headers.end ? 0 : at;
}

template <class T>
T read(const uint8_t *from)
{
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void write(uint8_t *to, T value)
{
    std::memcpy(to, &value, sizeof value);
}

}  // namespace

size_t segment_count(std::span<const uint8_t> frame, const Headers &headers, size_t size)
{
    const size_t at = payload_at(frame, headers);
    if (at == 0 || size == 0 || headers.end - at <= size)
        return 1;
    return (headers.end - at + size - 1) / size;
}

size_t segment_write(std::span<const uint8_t> frame, const Headers &headers, size_t size, size_t number,
                     std::span<uint8_t> to)
{
    const size_t at = payload_at(frame, headers), offset = number * size;
    if (at == 0 || offset >= headers.end - at)
        return 0;
    const size_t length = std::min(size, headers.end - at - offset), total = at + length;
    if (total > to.size())
        return 0;
    std::copy_n(frame.begin(), at, to.begin());
    std::copy_n(frame.begin() + static_cast<ptrdiff_t>(at + offset), length,
                to.begin() + static_cast<ptrdiff_t>(at));
    uint8_t *network = &to[headers.network_at], *transport = &to[headers.transport_at];
    const size_t packet = total - headers.network_at;
    if (headers.has_ipv4) {
        write(network + 2, htons(static_cast<uint16_t>(packet)));
        write(network + 4, htons(static_cast<uint16_t>(ntohs(read<uint16_t>(network + 4)) + number)));
    } else {
        constexpr size_t kIpv6Header = 40;
        write(network + 4, htons(static_cast<uint16_t>(packet - kIpv6Header)));
    }
    if (headers.transport == IPPROTO_UDP) {
        write(transport + 4, htons(static_cast<uint16_t>(total - headers.transport_at)));
    } else {
        write(transport + 4, htonl(ntohl(read<uint32_t>(transport + 4)) + static_cast<uint32_t>(offset)));
        constexpr uint8_t kFin = 0x01, kPush = 0x08, kWindowReduced = 0x80;
        // What ends the stream is for the last, what answers the network for the first (RFC 3168 6.1.2).
        const bool is_last = offset + length == headers.end - at;
        transport[13] &=
            static_cast<uint8_t>(~((is_last ? 0 : kFin | kPush) | (number == 0 ? 0 : kWindowReduced)));
    }
    const std::span<uint8_t> written = to.first(total);
    Headers own = headers;
    own.end = total;
    set_checksums(written, own);
    return total;
}

}  // namespace urxe::raw
