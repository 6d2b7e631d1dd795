// SPDX-License-Identifier: BSD-2-Clause
// The Toeplitz hash, and what of a frame goes into it.
#include "raw/toeplitz.hh"

#include <infiniband/verbs.h>
#include <netinet/in.h>

#include <algorithm>

namespace urxe::raw {

uint32_t toeplitz(std::span<const uint8_t, kHashKey> key, std::span<const uint8_t> data)
{
    // 32 bits of the key, from the bit that the data's is at.
    uint32_t window = uint32_t{key[0]} << 24 | uint32_t{key[1]} << 16 | uint32_t{key[2]} << 8 | key[3];
    uint32_t hash = 0;
    for (size_t i = 0; i < data.size() && i + 4 < kHashKey; ++i)
        for (int bit = 7; bit >= 0; --bit) {
            if ((data[i] >> bit & 1) != 0)
                hash ^= window;
            window = window << 1 | (key[i + 4] >> bit & 1);
        }
    return hash;
}

uint32_t frame_hash(std::span<const uint8_t, kHashKey> key, uint64_t fields, const Headers &headers)
{
    uint8_t data[kHashKey - 4];
    size_t size = 0;
    const auto add = [&](uint64_t field, const auto &value) {
        if ((fields & field) == 0)
            return;
        const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
        std::copy_n(bytes, sizeof value, data + size);
        size += sizeof value;
    };
    if (headers.has_ipv4) {
        add(IBV_RX_HASH_SRC_IPV4, headers.ipv4.src_ip);
        add(IBV_RX_HASH_DST_IPV4, headers.ipv4.dst_ip);
    } else if (headers.has_ipv6) {
        add(IBV_RX_HASH_SRC_IPV6, headers.ipv6.src_ip);
        add(IBV_RX_HASH_DST_IPV6, headers.ipv6.dst_ip);
    }
    if (headers.is_fragment)
        return toeplitz(key, {data, size});  // Its other fragments have no ports.
    if (headers.transport == IPPROTO_TCP) {
        add(IBV_RX_HASH_SRC_PORT_TCP, headers.ports.src_port);
        add(IBV_RX_HASH_DST_PORT_TCP, headers.ports.dst_port);
    } else if (headers.transport == IPPROTO_UDP) {
        add(IBV_RX_HASH_SRC_PORT_UDP, headers.ports.src_port);
        add(IBV_RX_HASH_DST_PORT_UDP, headers.ports.dst_port);
    }
    return toeplitz(key, {data, size});
}

}  // namespace urxe::raw
