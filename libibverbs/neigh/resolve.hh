// SPDX-License-Identifier: BSD-2-Clause
// From an IP address to what an Ethernet frame needs: the next hop's MAC and the VLAN of the egress
// interface.
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/result.hh"
#include "neigh/mac.hh"

namespace verbs::neigh {

struct EthernetHop {
    Mac mac;
    uint16_t vlan_id;  ///< kNoVlan where the frame carries no tag
};

constexpr uint16_t kNoVlan = 0xffff;

/// Both ends of a path, as GIDs have them: IPv6 addresses, or IPv4 addresses mapped to IPv6.
struct Path {
    int interface;  ///< index of the network interface that owns `source`
    in6_addr source;
    in6_addr destination;
};

/// Finds the next hop in the kernel's tables. Where the kernel does not know its MAC, has it ask the network,
/// and waits for the answer, `patience_ms` at most. EHOSTUNREACH, ENOMEM. Any thread; keeps no state.
Result<EthernetHop> resolve(const Path &path, int patience_ms);

}  // namespace verbs::neigh
