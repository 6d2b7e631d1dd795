// SPDX-License-Identifier: BSD-2-Clause
// The name under which a process with a slot listens to its peers.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>

namespace urxe {

/// Fills in the abstract socket address of a slot and gives its length.
socklen_t slot_address(uint32_t slot, sockaddr_un &address);

}  // namespace urxe
