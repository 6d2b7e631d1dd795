// SPDX-License-Identifier: BSD-2-Clause
// CRC-32, eight bytes at a time: a table for each of the eight, in place of one long chain of look-ups; or by whatever is
// faster on this processor.
#include "wire/crc32.hh"

#include <array>
#include <atomic>

namespace urxe::wire {

namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

/// tables[n][b]: what a register of zero becomes of the byte b and n zero bytes.
constexpr Tables make_tables()
{
    Tables tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit)
            value = crc32_times_x(value);
        tables[0][byte] = value;
    }
    for (size_t n = 1; n < tables.size(); ++n) {
        for (size_t byte = 0; byte < 256; ++byte) {
            uint32_t before = tables[n - 1][byte];
            tables[n][byte] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
    return tables;
}

constexpr Tables kTables = make_tables();

/// Least significant byte first, on every host.
uint32_t load_little(const uint8_t *from)
{
    return from[0] | uint32_t{from[1]} << 8 | uint32_t{from[2]} << 16 | uint32_t{from[3]} << 24;
}

}  // namespace

uint32_t crc32_update_portable(uint32_t value, std::span<const uint8_t> bytes)
{
    const uint8_t *at = bytes.data();
    size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        uint32_t low = value ^ load_little(at);
        uint32_t high = load_little(at + 4);
        value = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
                kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^
                kTables[1][high >> 16 & 0xff] ^ kTables[0][high >> 24];
    }
    for (; left > 0; --left, ++at)
        value = value >> 8 ^ kTables[0][(value ^ *at) & 0xff];
    return value;
}

uint32_t crc32_update(uint32_t value, std::span<const uint8_t> bytes)
{
    // Threads that find it empty at once all write the same.
    static std::atomic<Crc32Update *> chosen{nullptr};
    Crc32Update *update = chosen.load(std::memory_order_relaxed);
    if (update == nullptr) {
        update = crc32_clmul();
        if (update == nullptr)
            update = crc32_update_portable;
        chosen.store(update, std::memory_order_relaxed);
    }
    return update(value, bytes);
}

}  // namespace urxe::wire
