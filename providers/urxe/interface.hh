// SPDX-License-Identifier: BSD-2-Clause
// Network interfaces as the devices above them need to know them.
#pragma once

#include <infiniband/verbs.h>
#include <net/if.h>

#include <cstddef>
#include <cstdint>

namespace urxe {

/// Addresses that a device's GID table can hold.
constexpr uint32_t kGidTableSize = 64;

/// What the kernel says of an interface.
struct Interface {
    unsigned index;
    bool is_up, is_running;
    bool is_ethernet;      ///< its frames have Ethernet headers
    uint32_t mtu;          ///< bytes of an IP packet
    uint32_t speed_mbits;  ///< 0: the interface has none
    uint8_t mac[6];        ///< zeroes where it has none
    char name[IF_NAMESIZE];
};

/// Fills `interface`. 0, or a positive errno value: ENODEV where there is none of this name; then it is zeroes but for the
/// name.
int interface_read(const char *name, Interface &interface);

/// The addresses of the interface as GIDs, IPv6 link-local ones first, in the kernel's order otherwise. Gives how many
/// there are in `gids`, at most kGidTableSize; a negative errno value on failure.
int interface_gids(unsigned index, ibv_gid (&gids)[kGidTableSize]);

/// Whether an address is one of any interface of this network namespace.
bool is_local_gid(const ibv_gid &gid);

/// Calls `found` with the name of each interface that `which` names: names with commas in between, or "auto" for all that
/// are up. Stops at the first that `found` does not return 0 for, and gives that value; a positive errno value where the
/// kernel does not list interfaces.
int interfaces_named(const char *which, int (*found)(void *data, const char *name), void *data);

}  // namespace urxe
