// SPDX-License-Identifier: BSD-2-Clause
// CRC-32 (IEEE 802.3), as a register that takes bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urxe::wire {

/// The generator polynomial; here and below the most significant bit is the coefficient of x^0.
constexpr uint32_t kCrc32Polynomial = 0xedb88320;

/// The register that has taken nothing yet. A CRC is the complement of the register.
constexpr uint32_t kCrc32Start = 0xffffffff;

/// The register after those bytes, by the fastest way that the processor has. Any thread.
uint32_t crc32_update(uint32_t value, std::span<const uint8_t> bytes);

/// A way to do so. All give the same.
using Crc32Update = uint32_t(uint32_t value, std::span<const uint8_t> bytes);

/// With tables, on any processor.
Crc32Update crc32_update_portable;

/// With carry-less multiplication, or null where the processor has none.
Crc32Update *crc32_clmul();

/// The register times x: what one zero bit makes of it.
constexpr uint32_t crc32_times_x(uint32_t value)
{
    return value >> 1 ^ ((value & 1) != 0 ? kCrc32Polynomial : 0);
}

/// The register over x: crc32_times_x() undone.
constexpr uint32_t crc32_over_x(uint32_t value)
{
    return (value >> 31) != 0 ? (value ^ kCrc32Polynomial) << 1 | 1 : value << 1;
}

/// The product of two polynomials modulo the generator.
constexpr uint32_t crc32_multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        product ^= (a >> 31) != 0 ? b : 0;
        b = crc32_times_x(b);
    }
    return product;
}

}  // namespace urxe::wire
