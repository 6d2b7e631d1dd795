// SPDX-License-Identifier: BSD-2-Clause
// From an IP address to what an Ethernet frame needs: the next hop's MAC and the VLAN of the egress interface.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "base/result.hh"

namespace verbs::neigh {

/// An IPv4 or IPv6 address. As a GID it is the IPv6 address itself or the IPv4-mapped form (::ffff:a.b.c.d).
union IpAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

struct EthernetHop {
    std::array<uint8_t, 6> mac;
    uint16_t vlan_id;  ///< kNoVlan where the frame carries no tag
};

constexpr uint16_t kNoVlan = 0xffff;

/// Finds the way from `source` to `destination` in the kernel's tables, has the kernel ask the network where it
/// does not know the MAC, and waits `timeout_ms` at most for the answer. Makes no thread, keeps no state.
Result<EthernetHop> resolve(const IpAddress &source, const IpAddress &destination, unsigned timeout_ms);

}  // namespace verbs::neigh
