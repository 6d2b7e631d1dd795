// SPDX-License-Identifier: BSD-2-Clause
// Receive-side scaling: the hash that spreads frames over work queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "raw/frame.hh"

namespace urxe::raw {

constexpr size_t kHashKey = 40;

/// The Toeplitz hash of up to 36 bytes, as network adapters have it (Microsoft, "RSS hashing functions").
uint32_t toeplitz(std::span<const uint8_t, kHashKey> key, std::span<const uint8_t> data);

/// The hash of the fields (ibv_rx_hash_fields) that the frame has: addresses of the source and the destination, then their
/// ports. 0 where it has none.
uint32_t frame_hash(std::span<const uint8_t, kHashKey> key, uint64_t fields, const Headers &headers);

}  // namespace urxe::raw
