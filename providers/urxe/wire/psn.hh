// SPDX-License-Identifier: BSD-2-Clause
// Packet sequence numbers: 24 bits that wrap, ordered within half of their range (IBTA 9.7.1). MSNs are the
// same.
#pragma once

#include <cstdint>

namespace urxe::wire {

constexpr uint32_t kPsnMask = 0xffffff;

/// count packets further on; a negative count goes back.
constexpr uint32_t psn_add(uint32_t psn, int64_t count)
{
    return static_cast<uint32_t>(psn + static_cast<uint64_t>(count)) & kPsnMask;
}

/// Packets from one to the other: -2^23 to 2^23 - 1, negative where to comes before from.
constexpr int32_t psn_distance(uint32_t from, uint32_t to)
{
    auto distance = static_cast<int32_t>((to - from) & kPsnMask);
    return distance < 0x800000 ? distance : distance - 0x1000000;
}

constexpr bool psn_before(uint32_t psn, uint32_t other)
{
    return psn_distance(other, psn) < 0;
}

/// Whether psn is one of the count packets that begin with first.
constexpr bool psn_within(uint32_t psn, uint32_t first, uint32_t count)
{
    return ((psn - first) & kPsnMask) < count;
}

}  // namespace urxe::wire
