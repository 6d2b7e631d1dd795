// SPDX-License-Identifier: BSD-2-Clause
// Checksums, as they are computed and as receivers check them.
#include "raw/checksum.hh"

#include <gtest/gtest.h>

#include "frames.hh"

namespace {

using frames::Bytes;
using urxe::raw::Headers;
using urxe::raw::ones_sum;
using urxe::raw::parse;

/// What a receiver computes over the whole, which comes to ones (RFC 1071).
uint16_t check_transport(const Bytes &frame)
{
    const Headers headers = parse(frame);
    const std::span<const uint8_t> all(frame);
    const std::span<const uint8_t> segment =
        all.subspan(headers.transport_at, headers.end - headers.transport_at);
    const std::span<const uint8_t> addresses =
        headers.has_ipv4 ? all.subspan(headers.network_at + 12, 8) : all.subspan(headers.network_at + 8, 32);
    return ones_sum(segment, ones_sum(addresses) + headers.transport + static_cast<uint32_t>(segment.size()));
}

TEST(Checksum, IsThatOfTheStandardsExample)
{
    // RFC 1071 3.
    const uint8_t words[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    EXPECT_EQ(ones_sum(words), 0xddf2);
    EXPECT_EQ(ones_sum({words, 3}), 0xf201);
}

TEST(Checksum, IsSetSoThatReceiversFindItRight)
{
    for (size_t length = 0; length < 40; ++length) {
        const Bytes payload(length, static_cast<uint8_t>(0xa5 + length));
        for (const Bytes &packet : {
                 frames::ethernet(
                     0x0800, frames::ipv4(IPPROTO_UDP, "10.0.0.1", "10.0.0.2", frames::udp(1, 2, payload))),
                 frames::ethernet(0x0800, frames::ipv4(IPPROTO_TCP, "10.0.0.1", "10.0.0.2",
                                                       frames::tcp(1, 2, payload), 0, 4)),
                 frames::ethernet(
                     0x86dd, frames::ipv6(IPPROTO_UDP, "fd00::1", "fd00::2", frames::udp(1, 2, payload))),
                 frames::ethernet(
                     0x86dd, frames::ipv6(IPPROTO_TCP, "fd00::1", "fd00::2", frames::tcp(1, 2, payload))),
             }) {
            Bytes frame = packet;
            frame.resize(frame.size() + 3, 0x77);  // padding, which no checksum covers
            const Headers headers = parse(frame);
            EXPECT_EQ(network_checksum_is_right(frame, headers), headers.has_ipv6);
            set_checksums(frame, headers);
            EXPECT_TRUE(network_checksum_is_right(frame, headers));
            EXPECT_EQ(check_transport(frame), 0xffff);
        }
    }
}

TEST(Checksum, IsKnownForOneDatagram)
{
    Bytes frame = frames::datagram(9, 0);
    set_checksums(frame, parse(frame));
    // Addresses, protocol, length; ports, length.
    const uint16_t sum = 0x0a07 + 0x0001 + 0x0a07 + 0x0002 + 0x0011 + 0x0008 + 0x0fa0 + 0x0009 + 0x0008;
    EXPECT_EQ(frame[40] << 8 | frame[41], 0xffff & ~sum);
}

TEST(Checksum, LeavesFragmentsAndOthersAlone)
{
    Bytes fragment = frames::ethernet(
        0x0800, frames::ipv4(IPPROTO_UDP, "10.0.0.1", "10.0.0.2", frames::udp(1, 2, {3}), 0x2000));
    set_checksums(fragment, parse(fragment));
    EXPECT_EQ(fragment[40] | fragment[41], 0);
    EXPECT_TRUE(network_checksum_is_right(fragment, parse(fragment)));
    Bytes other = frames::ethernet(0x0806, Bytes(28, 1));
    const Bytes before = other;
    set_checksums(other, parse(other));
    EXPECT_EQ(other, before);
    EXPECT_FALSE(network_checksum_is_right(other, parse(other)));
}

}  // namespace
