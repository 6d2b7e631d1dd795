// SPDX-License-Identifier: BSD-2-Clause
// The names of the sockets that a process with a slot has for its peers.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace urxe {

/// Fills in the abstract socket address of a slot and gives its length. `suffix` tells its sockets apart; the one that
/// listens has none.
inline socklen_t slot_address(uint32_t slot, const char *suffix, sockaddr_un &address)
{
    address = {.sun_family = AF_UNIX, .sun_path = {}};
    // The leading zero makes it a name that no file has, and that the network namespace keeps to itself.
    const int length =
        std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "urxe/%u%s", slot, suffix);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

}  // namespace urxe
