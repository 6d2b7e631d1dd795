// SPDX-License-Identifier: BSD-2-Clause
// The global route header that comes in front of a datagram's payload.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/qp.hh"

namespace urxe::direct {

/// Writes what the datagram's receiver finds in its first 40 bytes: the IPv6 header of the packet, or 20 bytes of zeroes and
/// its IPv4 header where both addresses are IPv4's (IBTA A17.4.5.1).
void write_grh(const Request &request, uint8_t (&grh)[sizeof(ibv_grh)]);

}  // namespace urxe::direct
