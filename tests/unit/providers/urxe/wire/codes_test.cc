// SPDX-License-Identifier: BSD-2-Clause
// Codes and sequence numbers.
#include "wire/codes.hh"

#include <gtest/gtest.h>

#include "wire/psn.hh"

namespace urxe::wire {

TEST(Codes, PathMtu)
{
    const size_t bytes[] = {0, 256, 512, 1024, 2048, 4096, 0, 0};
    for (unsigned code = 0; code < 8; ++code)
        EXPECT_EQ(mtu_bytes(code), bytes[code]);
    for (size_t size = 0; size < 10'000; ++size) {
        unsigned expected = 0;
        unsigned within = 0;
        for (unsigned code = 1; code <= 5; ++code) {
            if (bytes[code] == size)
                expected = code;
            if (bytes[code] <= size)
                within = code;
        }
        ASSERT_EQ(mtu_code(size), expected) << size;
        ASSERT_EQ(mtu_code_within(size), within) << size;
    }
    EXPECT_EQ(mtu_code_within(SIZE_MAX), 5u);
}

TEST(Codes, PacketsOfAMessage)
{
    EXPECT_EQ(packets_of(0, 1024), 1u);
    EXPECT_EQ(packets_of(1, 1024), 1u);
    EXPECT_EQ(packets_of(1024, 1024), 1u);
    EXPECT_EQ(packets_of(1025, 1024), 2u);
    EXPECT_EQ(packets_of(uint64_t{1} << 31, 256), uint64_t{1} << 23);
    EXPECT_EQ(packets_of(UINT64_MAX, 256), uint64_t{1} << 56);
}

TEST(Codes, RnrTimer)
{
    const double milliseconds[] = {655.36, 0.01,  0.02,  0.03,   0.04,   0.06,   0.08,   0.12,
                                   0.16,   0.24,  0.32,  0.48,   0.64,   0.96,   1.28,   1.92,
                                   2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                   40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
    for (unsigned code = 0; code < 32; ++code)
        EXPECT_EQ(rnr_timer_ns(code), static_cast<uint64_t>(milliseconds[code] * 1e6 + 0.5)) << code;
    EXPECT_EQ(rnr_timer_ns(33), rnr_timer_ns(1));
}

TEST(Codes, AckTimeout)
{
    EXPECT_EQ(ack_timeout_ns(0), 0u);
    EXPECT_EQ(ack_timeout_ns(1), 8192u);
    EXPECT_EQ(ack_timeout_ns(14), 67'108'864u);
    EXPECT_EQ(ack_timeout_ns(31), 8'796'093'022'208u);
}

TEST(Codes, Credits)
{
    const uint32_t counts[] = {0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
                               48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
                               2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
    for (unsigned code = 0; code < 31; ++code) {
        EXPECT_EQ(credit_count(code), counts[code]) << code;
        EXPECT_EQ(credit_code(counts[code]), code);
        if (code > 0) {
            EXPECT_EQ(credit_code(counts[code] - 1), code - 1);
        }
    }
    EXPECT_EQ(credit_count(31), 0u);
    EXPECT_EQ(credit_count(200), 0u);
    EXPECT_EQ(credit_code(UINT32_MAX), 30u);
}

TEST(Codes, Syndromes)
{
    EXPECT_EQ(ack_syndrome(kNoCreditLimit), 0x1f);
    EXPECT_EQ(ack_syndrome(5), 0x05);
    EXPECT_EQ(rnr_nak_syndrome(12), 0x2c);
    EXPECT_EQ(nak_syndrome(NakCode::kPsnSequenceError), 0x60);
    EXPECT_EQ(nak_syndrome(NakCode::kInvalidRequest), 0x61);
    EXPECT_EQ(nak_syndrome(NakCode::kRemoteAccessError), 0x62);
    EXPECT_EQ(nak_syndrome(NakCode::kRemoteOperationalError), 0x63);
    EXPECT_EQ(nak_syndrome(NakCode::kInvalidRdRequest), 0x64);
    for (unsigned syndrome = 0; syndrome < 0x80; ++syndrome) {
        auto byte = static_cast<uint8_t>(syndrome);
        EXPECT_EQ(make_syndrome(syndrome_type(byte), syndrome_value(byte)), byte);
    }
    EXPECT_EQ(syndrome_type(0x9f), AckType::kAck);
    EXPECT_EQ(syndrome_type(0x3f), AckType::kRnrNak);
    EXPECT_EQ(syndrome_type(0x40), AckType::kReserved);
    EXPECT_EQ(syndrome_type(0x60), AckType::kNak);
}

TEST(Psn, Wraps)
{
    EXPECT_EQ(psn_add(0xffffff, 1), 0u);
    EXPECT_EQ(psn_add(0, -1), 0xffffffu);
    EXPECT_EQ(psn_add(5, 0x1000000), 5u);
    EXPECT_EQ(psn_add(0x123456, -0x123457), 0xffffffu);
}

TEST(Psn, IsOrderedWithinHalfItsRange)
{
    for (uint32_t from : {0u, 1u, 0x7fffffu, 0x800000u, 0xfffffeu, 0xffffffu}) {
        for (int32_t distance : {-0x800000, -0x7fffff, -128, -1, 0, 1, 128, 0x7ffffe, 0x7fffff}) {
            uint32_t to = psn_add(from, distance);
            EXPECT_EQ(psn_distance(from, to), distance);
            EXPECT_EQ(psn_before(to, from), distance < 0);
        }
    }
}

TEST(Psn, LiesWithinWindows)
{
    EXPECT_TRUE(psn_within(0xfffffe, 0xfffffe, 3));
    EXPECT_TRUE(psn_within(0, 0xfffffe, 3));
    EXPECT_FALSE(psn_within(1, 0xfffffe, 3));
    EXPECT_FALSE(psn_within(0xfffffd, 0xfffffe, 3));
    EXPECT_FALSE(psn_within(7, 7, 0));
}

}  // namespace urxe::wire
