// SPDX-License-Identifier: BSD-2-Clause
// Which addresses hold their MAC, and how. The outcomes are those of release 44.0.
#include "neigh/mac.hh"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using verbs::neigh::Mac;
using verbs::neigh::mac_of;

std::optional<Mac> mac_of_text(const std::string &text)
{
    in6_addr address = {};
    EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &address), 1) << text;
    return mac_of(address);
}

TEST(MacTest, Ipv4Multicast)
{
    EXPECT_EQ(mac_of_text("::ffff:224.0.0.1"), (Mac{0x01, 0x00, 0x5e, 0x00, 0x00, 0x01}));
    EXPECT_EQ(mac_of_text("::ffff:239.129.2.3"), (Mac{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}));
    EXPECT_EQ(mac_of_text("ff0e::ffff:225.1.1.1"), (Mac{0x01, 0x00, 0x5e, 0x01, 0x01, 0x01}));
}

TEST(MacTest, Ipv6Multicast)
{
    EXPECT_EQ(mac_of_text("ff02::1"), (Mac{0x33, 0x33, 0x00, 0x00, 0x00, 0x01}));
    EXPECT_EQ(mac_of_text("ff00::ffff:225.1.1.1"), (Mac{0x33, 0x33, 0xe1, 0x01, 0x01, 0x01}));
}

TEST(MacTest, LinkLocal)
{
    EXPECT_EQ(mac_of_text("fe80::f8cd:beff:fec3:8443"), (Mac{0xfa, 0xcd, 0xbe, 0xc3, 0x84, 0x43}));
    EXPECT_EQ(mac_of_text("fe80::1:2:3:4"), (Mac{0x02, 0x01, 0x00, 0x03, 0x00, 0x04}));
}

TEST(MacTest, OthersNeedANeighbour)
{
    for (const char *address : {"::ffff:10.7.0.1", "::ffff:240.0.0.1", "fd00::1", "fe80:0:0:1::1", "febf::1",
                                "fec0::1", "::1", "::"})
        EXPECT_EQ(mac_of_text(address), std::nullopt) << address;
}

}  // namespace
