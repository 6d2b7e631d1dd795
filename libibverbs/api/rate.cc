// SPDX-License-Identifier: BSD-2-Clause
// Rates of links: the wire encoding, the multiple of 2.5 Gbit/s, and Mbit/s.
#include <infiniband/verbs.h>

#include "base/export.hh"

namespace {

struct Rate {
    ibv_rate rate;
    int mult;  // kNoMult where the rate is not an exact multiple on the wire
    int mbps;
};

constexpr int kNoMult = -1;

// Names are rounded; from 14 Gbit/s on, the rate itself is that of the lanes, e.g. 4 x 14062.5 Mbit/s.
constexpr Rate kRates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},         {IBV_RATE_5_GBPS, 2, 5000},
    {IBV_RATE_10_GBPS, 4, 10000},         {IBV_RATE_20_GBPS, 8, 20000},
    {IBV_RATE_30_GBPS, 12, 30000},        {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000},        {IBV_RATE_80_GBPS, 32, 80000},
    {IBV_RATE_120_GBPS, 48, 120000},      {IBV_RATE_14_GBPS, kNoMult, 14062},
    {IBV_RATE_56_GBPS, kNoMult, 56250},   {IBV_RATE_112_GBPS, kNoMult, 112500},
    {IBV_RATE_168_GBPS, kNoMult, 168750}, {IBV_RATE_25_GBPS, kNoMult, 25781},
    {IBV_RATE_100_GBPS, kNoMult, 103125}, {IBV_RATE_200_GBPS, kNoMult, 206250},
    {IBV_RATE_300_GBPS, kNoMult, 309375}, {IBV_RATE_28_GBPS, 11, 28125},
    {IBV_RATE_50_GBPS, 20, 53125},        {IBV_RATE_400_GBPS, 160, 425000},
    {IBV_RATE_600_GBPS, 240, 637500},     {IBV_RATE_800_GBPS, 320, 850000},
    {IBV_RATE_1200_GBPS, 480, 1275000},
};

/// The value of `wanted` in the row whose `member` is `key`, or `otherwise` where there is none.
template <class Key, class Wanted>
constexpr Wanted look_up(Key Rate::*member, Key key, Wanted Rate::*wanted, Wanted otherwise)
{
    for (const Rate &row : kRates)
        if (row.*member == key)
            return row.*wanted;
    return otherwise;
}

}  // namespace

VERBS_EXPORT int ibv_rate_to_mult(ibv_rate rate)
{
    return look_up(&Rate::rate, rate, &Rate::mult, -1);
}

VERBS_EXPORT ibv_rate mult_to_ibv_rate(int mult)
{
    return mult == kNoMult ? IBV_RATE_MAX : look_up(&Rate::mult, mult, &Rate::rate, IBV_RATE_MAX);
}

VERBS_EXPORT int ibv_rate_to_mbps(ibv_rate rate)
{
    return look_up(&Rate::rate, rate, &Rate::mbps, -1);
}

VERBS_EXPORT ibv_rate mbps_to_ibv_rate(int mbps)
{
    return look_up(&Rate::mbps, mbps, &Rate::rate, IBV_RATE_MAX);
}
