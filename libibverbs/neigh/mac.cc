// SPDX-License-Identifier: BSD-2-Clause
// The rules that map IP addresses to MACs.
#include "neigh/mac.hh"

namespace verbs::neigh {
namespace {

constexpr bool is_ipv4_multicast(const in6_addr &address)
{
    return is_ipv4(address) && (address.s6_addr[12] & 0xf0) == 0xe0;
}

/// ff0e::ffff:a.b.c.d: the GID of an IPv4 multicast group.
constexpr bool is_mapped_multicast_gid(const in6_addr &address)
{
    in6_addr plain = address;
    plain.s6_addr[0] = 0;
    plain.s6_addr[1] = 0;
    return address.s6_addr[0] == 0xff && address.s6_addr[1] == 0x0e && is_ipv4(plain);
}

/// fe80::/64, the only part of fe80::/10 that interfaces use.
constexpr bool is_link_local(const in6_addr &address)
{
    if (address.s6_addr[0] != 0xfe || address.s6_addr[1] != 0x80)
        return false;
    for (int i = 2; i < 8; ++i)
        if (address.s6_addr[i] != 0)
            return false;
    return true;
}

}  // namespace

std::optional<Mac> mac_of(const in6_addr &address)
{
    const uint8_t *raw = address.s6_addr;
    if (is_ipv4_multicast(address) || is_mapped_multicast_gid(address))
        return Mac{0x01, 0x00, 0x5e, static_cast<uint8_t>(raw[13] & 0x7f), raw[14], raw[15]};
    if (raw[0] == 0xff)
        return Mac{0x33, 0x33, raw[12], raw[13], raw[14], raw[15]};
    if (is_link_local(address))
        return Mac{static_cast<uint8_t>(raw[8] ^ 0x02), raw[9], raw[10], raw[13], raw[14], raw[15]};
    return std::nullopt;
}

}  // namespace verbs::neigh
