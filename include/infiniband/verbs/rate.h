/* SPDX-License-Identifier: BSD-2-Clause */
/* Static rates: how fast an address handle or a path may send (IBTA 9.11.1). */
#ifndef INFINIBAND_VERBS_RATE_H
#define INFINIBAND_VERBS_RATE_H

#include <infiniband/verbs/base.h>

__VERBS_BEGIN_DECLS

/** Rates in the encoding of IBTA, which is not in their order. */
enum ibv_rate {
    IBV_RATE_MAX = 0, /* as fast as the port */
    IBV_RATE_2_5_GBPS = 2,
    IBV_RATE_5_GBPS = 5,
    IBV_RATE_10_GBPS = 3,
    IBV_RATE_20_GBPS = 6,
    IBV_RATE_30_GBPS = 4,
    IBV_RATE_40_GBPS = 7,
    IBV_RATE_60_GBPS = 8,
    IBV_RATE_80_GBPS = 9,
    IBV_RATE_120_GBPS = 10,
    IBV_RATE_14_GBPS = 11,
    IBV_RATE_56_GBPS = 12,
    IBV_RATE_112_GBPS = 13,
    IBV_RATE_168_GBPS = 14,
    IBV_RATE_25_GBPS = 15,
    IBV_RATE_100_GBPS = 16,
    IBV_RATE_200_GBPS = 17,
    IBV_RATE_300_GBPS = 18,
    IBV_RATE_28_GBPS = 19,
    IBV_RATE_50_GBPS = 20,
    IBV_RATE_400_GBPS = 21,
    IBV_RATE_600_GBPS = 22,
    IBV_RATE_800_GBPS = 23,
    IBV_RATE_1200_GBPS = 24
};

/** The rate as a multiple of 2.5 Gbit/s; -1 for one that is none or is unknown. */
int __attribute__((__const__)) ibv_rate_to_mult(enum ibv_rate rate);

/** The rate that is `mult` times 2.5 Gbit/s; IBV_RATE_MAX when there is none. */
enum ibv_rate __attribute__((__const__)) mult_to_ibv_rate(int mult);

/** The rate in Mbit/s; -1 for an unknown one. */
int __attribute__((__const__)) ibv_rate_to_mbps(enum ibv_rate rate);

/** The rate of `mbps` Mbit/s; IBV_RATE_MAX when there is none. */
enum ibv_rate __attribute__((__const__)) mbps_to_ibv_rate(int mbps);

__VERBS_END_DECLS

#endif
