// SPDX-License-Identifier: BSD-2-Clause
// Numbers in network byte order, read and written byte by byte, so that neither host order nor alignment
// matters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urxe::wire {

/// The number in the first Size bytes at from, the most significant byte first.
template <size_t Size>
constexpr uint64_t load_big(const uint8_t *from)
{
    uint64_t value = 0;
    for (size_t i = 0; i < Size; ++i)
        value = value << 8 | from[i];
    return value;
}

/// Writes the low Size bytes of value to to, the most significant byte first.
template <size_t Size>
constexpr void store_big(uint8_t *to, uint64_t value)
{
    for (size_t i = Size; i-- > 0; value >>= 8)
        to[i] = static_cast<uint8_t>(value);
}

constexpr uint16_t load16(const uint8_t *from)
{
    return static_cast<uint16_t>(load_big<2>(from));
}

constexpr uint32_t load24(const uint8_t *from)
{
    return static_cast<uint32_t>(load_big<3>(from));
}

constexpr uint32_t load32(const uint8_t *from)
{
    return static_cast<uint32_t>(load_big<4>(from));
}

constexpr uint64_t load64(const uint8_t *from)
{
    return load_big<8>(from);
}

}  // namespace urxe::wire
