// SPDX-License-Identifier: BSD-2-Clause
// The hash of receive-side scaling, against the verification suite that Microsoft publishes for it.
#include "raw/toeplitz.hh"

#include <gtest/gtest.h>

#include "frames.hh"

namespace {

using frames::Bytes;
using urxe::raw::frame_hash;
using urxe::raw::parse;

constexpr uint8_t kKey[urxe::raw::kHashKey] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                               0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                               0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                               0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
constexpr uint64_t kIpv4 = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
constexpr uint64_t kIpv6 = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6;
constexpr uint64_t kTcp = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP;
constexpr uint64_t kUdp = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;

struct Vector {
    const char *destination;
    uint16_t destination_port;
    const char *source;
    uint16_t source_port;
    uint32_t hash, hash_with_ports;
};
constexpr Vector kIpv4Vectors[] = {
    {"161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178},
    {"65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea},
    {"12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a},
    {"209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f},
    {"202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2},
};
constexpr Vector kIpv6Vectors[] = {
    {"3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d},
    {"ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf},
    {"fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4b61e985, 0x02d1feef},
};

TEST(Toeplitz, IsThatOfThePublishedVectorsOverIpv4)
{
    for (const Vector &vector : kIpv4Vectors) {
        const Bytes tcp = frames::ethernet(
            0x0800, frames::ipv4(IPPROTO_TCP, vector.source, vector.destination,
                                 frames::tcp(vector.source_port, vector.destination_port, {})));
        const Bytes udp = frames::ethernet(
            0x0800, frames::ipv4(IPPROTO_UDP, vector.source, vector.destination,
                                 frames::udp(vector.source_port, vector.destination_port, {})));
        EXPECT_EQ(frame_hash(kKey, kIpv4, parse(tcp)), vector.hash);
        EXPECT_EQ(frame_hash(kKey, kIpv4 | kTcp, parse(tcp)), vector.hash_with_ports);
        EXPECT_EQ(frame_hash(kKey, kIpv4 | kTcp, parse(udp)), vector.hash);
        EXPECT_EQ(frame_hash(kKey, kIpv4 | kUdp, parse(udp)), vector.hash_with_ports);
        EXPECT_EQ(frame_hash(kKey, kIpv6, parse(tcp)), 0u);
    }
}

TEST(Toeplitz, IsThatOfThePublishedVectorsOverIpv6)
{
    for (const Vector &vector : kIpv6Vectors) {
        const Bytes tcp = frames::ethernet(
            0x86dd, frames::ipv6(IPPROTO_TCP, vector.source, vector.destination,
                                 frames::tcp(vector.source_port, vector.destination_port, {})));
        EXPECT_EQ(frame_hash(kKey, kIpv6, parse(tcp)), vector.hash);
        EXPECT_EQ(frame_hash(kKey, kIpv6 | kTcp, parse(tcp)), vector.hash_with_ports);
        EXPECT_EQ(frame_hash(kKey, kIpv4 | kTcp, parse(tcp)), frame_hash(kKey, kTcp, parse(tcp)));
    }
}

TEST(Toeplitz, IsTheSameForAllFragments)
{
    const Bytes segment = frames::udp(5, 6, {1, 2, 3, 4, 5, 6, 7, 8});
    uint32_t hashes[2];
    for (const uint16_t fragment : {0x2000, 0x0001})
        hashes[fragment & 1] =
            frame_hash(kKey, kIpv4 | kUdp,
                       parse(frames::ethernet(
                           0x0800, frames::ipv4(IPPROTO_UDP, "10.0.0.1", "10.0.0.2", segment, fragment))));
    EXPECT_NE(hashes[0], 0u);
    EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(Toeplitz, IsZeroOfNothing)
{
    EXPECT_EQ(frame_hash(kKey, kIpv4 | kTcp, parse(frames::ethernet(0x0806, {1, 2, 3}))), 0u);
    EXPECT_EQ(frame_hash(kKey, 0, parse(frames::datagram(1, 2))), 0u);
}

}  // namespace
