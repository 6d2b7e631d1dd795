// SPDX-License-Identifier: BSD-2-Clause
// Taking frames apart.
#include "raw/frame.hh"

#include <gtest/gtest.h>

#include "frames.hh"

namespace {

using frames::Bytes;
using urxe::raw::Headers;
using urxe::raw::parse;

TEST(Frame, IsNoneUnderFourteenBytes)
{
    Bytes frame = frames::ethernet(0x0806, {});
    EXPECT_TRUE(parse(frame).is_frame);
    frame.pop_back();
    EXPECT_FALSE(parse(frame).is_frame);
    EXPECT_FALSE(parse({}).is_frame);
}

TEST(Frame, HasAddressesAndType)
{
    const Bytes frame = frames::ethernet(0x0806, {1, 2, 3});
    const Headers headers = parse(frame);
    EXPECT_EQ(std::memcmp(headers.eth.dst_mac, frames::kTo.bytes, 6), 0);
    EXPECT_EQ(std::memcmp(headers.eth.src_mac, frames::kFrom.bytes, 6), 0);
    EXPECT_EQ(headers.eth.ether_type, htons(0x0806));
    EXPECT_FALSE(headers.has_vlan || headers.has_ipv4 || headers.has_ipv6);
}

TEST(Frame, HasTheOutermostTagAndTheInnermostType)
{
    const Bytes frame =
        frames::ethernet(0x0800, frames::ipv4(IPPROTO_UDP, "1.2.3.4", "5.6.7.8", frames::udp(1, 2, {})),
                         frames::kTo, {{0x88a8, 0x6007}, {0x8100, 0x0009}});
    const Headers headers = parse(frame);
    EXPECT_TRUE(headers.has_vlan);
    EXPECT_EQ(headers.eth.vlan_tag, htons(0x6007));
    EXPECT_EQ(headers.eth.ether_type, htons(0x0800));
    EXPECT_EQ(headers.network_at, 22u);
    EXPECT_EQ(headers.transport, IPPROTO_UDP);
}

TEST(Frame, HasIpv4AndPorts)
{
    for (const size_t options : {size_t{0}, size_t{8}}) {
        Bytes frame = frames::ethernet(
            0x0800, frames::ipv4(IPPROTO_TCP, "1.2.3.4", "5.6.7.8", frames::tcp(80, 443, {9}), 0, options));
        const size_t end = frame.size();
        frame.resize(end + 5);  // padding
        const Headers headers = parse(frame);
        ASSERT_TRUE(headers.has_ipv4);
        EXPECT_EQ(headers.ipv4.src_ip, inet_addr("1.2.3.4"));
        EXPECT_EQ(headers.ipv4.dst_ip, inet_addr("5.6.7.8"));
        EXPECT_EQ(headers.ipv4.proto, IPPROTO_TCP);
        EXPECT_EQ(headers.ipv4.tos, 0x10);
        EXPECT_EQ(headers.ipv4.ttl, 64);
        EXPECT_EQ(headers.transport, IPPROTO_TCP);
        EXPECT_EQ(headers.ports.src_port, htons(80));
        EXPECT_EQ(headers.ports.dst_port, htons(443));
        EXPECT_EQ(headers.transport_at, 34 + options);
        EXPECT_EQ(headers.end, end);
    }
}

TEST(Frame, HasIpv6AndPortsBehindExtensionHeaders)
{
    Bytes options = {IPPROTO_ROUTING, 1};
    options.resize(16);
    frames::append(options, {IPPROTO_UDP, 0, 0, 0, 0, 0, 0, 0});
    frames::append(options, frames::udp(53, 5353, {}));
    const Headers headers =
        parse(frames::ethernet(0x86dd, frames::ipv6(IPPROTO_HOPOPTS, "fd00::1", "fd00::2", options)));
    ASSERT_TRUE(headers.has_ipv6);
    EXPECT_EQ(headers.ipv6.traffic_class, 0xab);
    EXPECT_EQ(headers.ipv6.flow_label, htonl(0x12345));
    EXPECT_EQ(headers.ipv6.next_hdr, IPPROTO_HOPOPTS);
    EXPECT_EQ(headers.ipv6.hop_limit, 63);
    EXPECT_EQ(headers.ipv6.src_ip[15], 1);
    EXPECT_EQ(headers.ipv6.dst_ip[15], 2);
    EXPECT_EQ(headers.transport, IPPROTO_UDP);
    EXPECT_EQ(headers.ports.dst_port, htons(5353));
}

TEST(Frame, HasPortsInTheFirstFragmentAlone)
{
    const Bytes segment = frames::udp(1, 2, {});
    for (const uint16_t fragment : {0x2000, 0x0001, 0x4000}) {
        const Headers headers = parse(
            frames::ethernet(0x0800, frames::ipv4(IPPROTO_UDP, "1.2.3.4", "5.6.7.8", segment, fragment)));
        EXPECT_TRUE(headers.has_ipv4);
        EXPECT_EQ(headers.transport, fragment == 1 ? 0 : IPPROTO_UDP);
        EXPECT_EQ(headers.is_fragment, fragment != 0x4000);
    }
    for (const uint8_t low : {uint8_t{0}, uint8_t{1}, uint8_t{8}}) {
        Bytes behind = {IPPROTO_UDP, 0, 0, low, 0, 0, 0, 0};
        frames::append(behind, segment);
        const Headers headers =
            parse(frames::ethernet(0x86dd, frames::ipv6(IPPROTO_FRAGMENT, "fd00::1", "fd00::2", behind)));
        EXPECT_EQ(headers.transport, low == 8 ? 0 : IPPROTO_UDP);
        EXPECT_EQ(headers.is_fragment, low != 0);
    }
}

TEST(Frame, HasNoHeaderThatSaysNonsense)
{
    const Bytes good = frames::datagram(7, 10);
    ASSERT_EQ(parse(good).transport, IPPROTO_UDP);
    for (const auto &[at, value] :
         {std::pair<size_t, uint8_t>{14, 0x65}, {14, 0x44}, {14, 0x4f}, {16, 1}, {17, 19}}) {
        Bytes bad = good;
        bad[at] = value;
        const Headers headers = parse(bad);
        EXPECT_FALSE(headers.has_ipv4 && headers.transport == IPPROTO_UDP) << at;
    }
    // Cut short anywhere, it has what is whole.
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(parse({good.data(), size}).has_ipv4);
}

}  // namespace
