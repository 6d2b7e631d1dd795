// SPDX-License-Identifier: BSD-2-Clause
// Ethernet addresses that follow from an IP address alone. IPv4 addresses are mapped ones (::ffff:a.b.c.d).
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>

namespace verbs::neigh {

using Mac = std::array<uint8_t, 6>;

constexpr bool is_ipv4(const in6_addr &address)
{
    for (int i = 0; i < 12; ++i)
        if (address.s6_addr[i] != (i < 10 ? 0 : 0xff))
            return false;
    return true;
}

/// The MAC of a multicast group (RFC 1112, RFC 2464; IPv4 groups also as ff0e::ffff:a.b.c.d) or of a
/// link-local IPv6 address, whose interface identifier holds it (RFC 4291, appendix A). Other addresses need
/// a neighbour.
std::optional<Mac> mac_of(const in6_addr &address);

}  // namespace verbs::neigh
