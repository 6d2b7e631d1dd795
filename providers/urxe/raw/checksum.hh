// SPDX-License-Identifier: BSD-2-Clause
// The checksums of IP, TCP and UDP (RFC 1071).
#pragma once

#include <cstdint>
#include <span>

#include "raw/frame.hh"

namespace urxe::raw {

/// The sum of 16-bit words in network order, folded, of `bytes` and what `sum` came to before; an odd byte counts as the
/// first of a word.
uint16_t ones_sum(std::span<const uint8_t> bytes, uint32_t sum = 0);

/// Whether the checksum of an IPv4 header is right; true for IPv6, which has none.
bool network_checksum_is_right(std::span<const uint8_t> frame, const Headers &headers);

/// Sets the checksums of the IPv4 header and of TCP or UDP, where the frame has those whole.
void set_checksums(std::span<uint8_t> frame, const Headers &headers);

}  // namespace urxe::raw
