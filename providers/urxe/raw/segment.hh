// SPDX-License-Identifier: BSD-2-Clause
// Frames that stand for several: the kernel passes them about whole, an adapter would have them on the wire one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "raw/frame.hh"

namespace urxe::raw {

/// How many frames a TCP or UDP frame stands for, where each has at most `size` bytes of payload. 1: it is what it is.
size_t segment_count(std::span<const uint8_t> frame, const Headers &headers, size_t size);

/// Writes the one of that number to `to`, with its own lengths, sequence number, flags and checksums; gives its size, 0 where
/// there is no room.
size_t segment_write(std::span<const uint8_t> frame, const Headers &headers, size_t size, size_t number,
                     std::span<uint8_t> to);

}  // namespace urxe::raw
