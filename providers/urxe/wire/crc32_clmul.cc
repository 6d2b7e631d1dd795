// SPDX-License-Identifier: BSD-2-Clause
// CRC-32 with carry-less multiplication on x86: 64 bytes at a time are folded onto the 64 that follow.
#include "wire/crc32.hh"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

namespace urxe::wire {
namespace {

// x^exponent modulo the polynomial, one bit up: the product of two registers of mirrored bits lies one bit low.
constexpr int64_t power(unsigned exponent)
{
    uint32_t value = 0x80000000;
    for (; exponent > 0; --exponent)
        value = crc32_times_x(value);
    return static_cast<int64_t>(uint64_t{value} << 1);
}

// Multiplies 16 bytes by x^(8 * Distance): the first eight bytes hold the upper powers. 32 more or less because each half
// is multiplied to 96 bits, whose place is where 64 bits and the 32 of the register end.
template <unsigned Distance>
__attribute__((target("pclmul"), always_inline)) inline __m128i fold(__m128i bytes)
{
    const __m128i powers = _mm_set_epi64x(power(8 * Distance - 32), power(8 * Distance + 32));
    return _mm_xor_si128(_mm_clmulepi64_si128(bytes, powers, 0x00),
                         _mm_clmulepi64_si128(bytes, powers, 0x11));
}

__attribute__((target("pclmul"), always_inline)) inline __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}

// Below this the tables win: they finish what folding leaves, 16 bytes and the rest.
constexpr size_t kWorthwhile = 64;

__attribute__((target("pclmul"))) uint32_t update_clmul(uint32_t value, std::span<const uint8_t> bytes)
{
    if (bytes.size() < kWorthwhile)
        return crc32_update_portable(value, bytes);
    const uint8_t *from = bytes.data();
    const uint8_t *end = from + bytes.size();
    // The register is added to the first four bytes, and is then 0.
    __m128i a = _mm_xor_si128(load(from), _mm_cvtsi32_si128(static_cast<int>(value)));
    __m128i b = load(from + 16);
    __m128i c = load(from + 32);
    __m128i d = load(from + 48);
    for (from += 64; end - from >= 64; from += 64) {
        a = _mm_xor_si128(fold<64>(a), load(from));
        b = _mm_xor_si128(fold<64>(b), load(from + 16));
        c = _mm_xor_si128(fold<64>(c), load(from + 32));
        d = _mm_xor_si128(fold<64>(d), load(from + 48));
    }
    b = _mm_xor_si128(fold<16>(a), b);
    c = _mm_xor_si128(fold<16>(b), c);
    d = _mm_xor_si128(fold<16>(c), d);
    for (; end - from >= 16; from += 16)
        d = _mm_xor_si128(fold<16>(d), load(from));
    uint8_t rest[16];
    _mm_storeu_si128(reinterpret_cast<__m128i *>(rest), d);
    value = crc32_update_portable(0, rest);
    return crc32_update_portable(value, std::span(from, end));
}

}  // namespace

Crc32Update *crc32_clmul()
{
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_PCLMUL) == 0)
        return nullptr;
    return update_clmul;
}

}  // namespace urxe::wire

#else

namespace urxe::wire {

Crc32Update *crc32_clmul()
{
    return nullptr;
}

}  // namespace urxe::wire

#endif
