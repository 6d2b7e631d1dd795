// SPDX-License-Identifier: BSD-2-Clause
// CRC-32: each way to compute it, against the definition.
#include "wire/crc32.hh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace urxe::wire::test {

namespace {

uint32_t update_bit_by_bit(uint32_t value, std::span<const uint8_t> bytes)
{
    for (uint8_t byte : bytes) {
        value ^= byte;
        for (int bit = 0; bit < 8; ++bit)
            value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320 : 0);
    }
    return value;
}

void expect_right(Crc32Update *update)
{
    const uint8_t digits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    EXPECT_EQ(~update(kCrc32Start, std::span<const uint8_t>(digits)), 0xcbf43926u);
    EXPECT_EQ(update(7, {}), 7u);

    std::mt19937 random(1);
    std::vector<uint8_t> bytes(5000);
    for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(random());
    for (size_t size = 0; size < 600; ++size) {
        for (size_t start = 0; start < 16; start += 5) {
            std::span part = std::span(bytes).subspan(start, size);
            auto value = static_cast<uint32_t>(random());
            ASSERT_EQ(update(value, part), update_bit_by_bit(value, part)) << size << " from " << start;
        }
    }
    for (int i = 0; i < 100; ++i) {
        std::span part = std::span(bytes).first(random() % bytes.size());
        size_t cut = part.empty() ? 0 : random() % part.size();
        uint32_t whole = update_bit_by_bit(kCrc32Start, part);
        ASSERT_EQ(update(kCrc32Start, part), whole) << part.size();
        ASSERT_EQ(update(update(kCrc32Start, part.first(cut)), part.subspan(cut)), whole)
            << part.size() << " cut at " << cut;
    }
}

}  // namespace

TEST(Crc32, WithTablesIsRight)
{
    expect_right(crc32_update_portable);
}

TEST(Crc32, WithCarryLessMultiplicationIsRight)
{
    if (crc32_clmul() == nullptr)
        GTEST_SKIP() << "this processor has no PCLMULQDQ";
    expect_right(crc32_clmul());
}

TEST(Crc32, AsThisProcessorDoesItIsRight)
{
    expect_right(crc32_update);
}

}  // namespace urxe::wire::test
