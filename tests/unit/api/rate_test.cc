// SPDX-License-Identifier: BSD-2-Clause
// Rates: each conversion against its golden values, and against the stock library for every input.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "stock.hh"

namespace {

using verbs::test::stock;

struct Row {
    ibv_rate rate;
    int mult;
    int mbps;
};

// As release 44.0 answers.
constexpr Row kRows[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},         {IBV_RATE_10_GBPS, 4, 10000},
    {IBV_RATE_20_GBPS, 8, 20000},     {IBV_RATE_30_GBPS, 12, 30000},      {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000},    {IBV_RATE_80_GBPS, 32, 80000},      {IBV_RATE_120_GBPS, 48, 120000},
    {IBV_RATE_14_GBPS, -1, 14062},    {IBV_RATE_56_GBPS, -1, 56250},      {IBV_RATE_112_GBPS, -1, 112500},
    {IBV_RATE_168_GBPS, -1, 168750},  {IBV_RATE_25_GBPS, -1, 25781},      {IBV_RATE_100_GBPS, -1, 103125},
    {IBV_RATE_200_GBPS, -1, 206250},  {IBV_RATE_300_GBPS, -1, 309375},    {IBV_RATE_28_GBPS, 11, 28125},
    {IBV_RATE_50_GBPS, 20, 53125},    {IBV_RATE_400_GBPS, 160, 425000},   {IBV_RATE_600_GBPS, 240, 637500},
    {IBV_RATE_800_GBPS, 320, 850000}, {IBV_RATE_1200_GBPS, 480, 1275000},
};

TEST(RateTest, ConvertsEachRateBothWays)
{
    for (const Row &row : kRows) {
        EXPECT_EQ(ibv_rate_to_mult(row.rate), row.mult) << row.rate;
        EXPECT_EQ(ibv_rate_to_mbps(row.rate), row.mbps) << row.rate;
        EXPECT_EQ(mbps_to_ibv_rate(row.mbps), row.rate) << row.mbps;
        if (row.mult > 0) {
            EXPECT_EQ(mult_to_ibv_rate(row.mult), row.rate) << row.mult;
        }
    }
}

TEST(RateTest, OtherValuesHaveNoCounterpart)
{
    EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_MAX), -1);
    EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
    for (int value : {1, 25, 31}) {
        EXPECT_EQ(ibv_rate_to_mult(static_cast<ibv_rate>(value)), -1) << value;
        EXPECT_EQ(ibv_rate_to_mbps(static_cast<ibv_rate>(value)), -1) << value;
    }
    for (int value : {-1, 0, 3, 5, 481}) {
        EXPECT_EQ(mult_to_ibv_rate(value), IBV_RATE_MAX) << value;
        EXPECT_EQ(mbps_to_ibv_rate(value), IBV_RATE_MAX) << value;
    }
}

TEST(RateTest, AgreesWithStockOnEveryInput)
{
    auto *rate_to_mult = stock(ibv_rate_to_mult, "ibv_rate_to_mult", "IBVERBS_1.0");
    auto *mult_to_rate = stock(mult_to_ibv_rate, "mult_to_ibv_rate", "IBVERBS_1.0");
    auto *rate_to_mbps = stock(ibv_rate_to_mbps, "ibv_rate_to_mbps", "IBVERBS_1.1");
    auto *mbps_to_rate = stock(mbps_to_ibv_rate, "mbps_to_ibv_rate", "IBVERBS_1.1");
    if (rate_to_mult == nullptr || mult_to_rate == nullptr || rate_to_mbps == nullptr ||
        mbps_to_rate == nullptr)
        GTEST_SKIP() << "the stock library is not installed";
    for (int value = 0; value < 32; ++value) {
        auto rate = static_cast<ibv_rate>(value);
        EXPECT_EQ(ibv_rate_to_mult(rate), rate_to_mult(rate)) << value;
        EXPECT_EQ(ibv_rate_to_mbps(rate), rate_to_mbps(rate)) << value;
    }
    for (int value = -1000; value < 1'300'000; ++value) {
        ASSERT_EQ(mult_to_ibv_rate(value), mult_to_rate(value)) << value;
        ASSERT_EQ(mbps_to_ibv_rate(value), mbps_to_rate(value)) << value;
    }
}

}  // namespace
