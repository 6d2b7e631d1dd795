// SPDX-License-Identifier: BSD-2-Clause
// Cutting frames into those that they stand for.
#include "raw/segment.hh"

#include <gtest/gtest.h>

#include "frames.hh"
#include "raw/checksum.hh"

namespace {

using frames::Bytes;
using urxe::raw::Headers;
using urxe::raw::parse;
using urxe::raw::segment_count;
using urxe::raw::segment_write;

Bytes counted(size_t length)
{
    Bytes bytes(length);
    for (size_t i = 0; i < length; ++i)
        bytes[i] = static_cast<uint8_t>(i * 7 + i / 256);
    return bytes;
}

/// All parts; each must have checksums that stay as they are when computed again.
std::vector<Bytes> cut(const Bytes &frame, size_t size)
{
    std::vector<Bytes> parts;
    const Headers headers = parse(frame);
    const size_t count = segment_count(frame, headers, size);
    for (size_t i = 0; i < count; ++i) {
        Bytes part(frame.size());
        part.resize(segment_write(frame, headers, size, i, part));
        Bytes again = part;
        set_checksums(again, parse(again));
        EXPECT_EQ(part, again);
        EXPECT_EQ(parse(part).end, part.size());
        EXPECT_EQ(segment_write(frame, headers, size, i, {again.data(), part.size() - 1}), 0u);
        parts.push_back(part);
    }
    EXPECT_EQ(segment_write(frame, headers, size, count, {parts[0].data(), parts[0].size()}), 0u);
    return parts;
}

Bytes payload(const Bytes &frame, size_t header)
{
    return {frame.begin() + static_cast<ptrdiff_t>(parse(frame).transport_at + header), frame.end()};
}

TEST(Segments, OfTcpContinueTheStream)
{
    const Bytes data = counted(2500);
    Bytes tcp = frames::tcp(80, 443, data);
    tcp[7] = 0xf0;   // sequence number
    tcp[13] = 0x99;  // CWR, ACK, PSH, FIN
    for (const Bytes &frame :
         {frames::ethernet(0x0800, frames::ipv4(IPPROTO_TCP, "10.0.0.1", "10.0.0.2", tcp)),
          frames::ethernet(0x86dd, frames::ipv6(IPPROTO_TCP, "fd00::1", "fd00::2", tcp), frames::kTo,
                           {{0x8100, 5}})}) {
        const std::vector<Bytes> parts = cut(frame, 1000);
        ASSERT_EQ(parts.size(), 3u);
        const uint8_t flags[] = {0x90, 0x10, 0x19};
        Bytes all;
        for (size_t i = 0; i < parts.size(); ++i) {
            const Headers headers = parse(parts[i]);
            const uint8_t *transport = &parts[i][headers.transport_at];
            uint32_t sequence;
            std::memcpy(&sequence, transport + 4, sizeof sequence);
            EXPECT_EQ(ntohl(sequence), 0xf0 + i * 1000);
            EXPECT_EQ(transport[13], flags[i]);
            if (headers.has_ipv4) {
                EXPECT_EQ(parts[i][headers.network_at + 5], 0x34 + i);
            }
            EXPECT_EQ(headers.ports.dst_port, htons(443));
            EXPECT_EQ(headers.eth.vlan_tag, parse(frame).eth.vlan_tag);
            frames::append(all, payload(parts[i], 20));
        }
        EXPECT_EQ(all, data);
    }
}

TEST(Segments, OfUdpAreDatagrams)
{
    const Bytes data = counted(2000);
    const std::vector<Bytes> parts = cut(
        frames::ethernet(0x0800, frames::ipv4(IPPROTO_UDP, "10.0.0.1", "10.0.0.2", frames::udp(1, 2, data))),
        1000);
    ASSERT_EQ(parts.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        const size_t at = parse(parts[i]).transport_at;
        EXPECT_EQ(parts[i][at + 4] << 8 | parts[i][at + 5], 1008);
        EXPECT_EQ(payload(parts[i], 8), Bytes(data.begin() + static_cast<ptrdiff_t>(i * 1000),
                                              data.begin() + static_cast<ptrdiff_t>(i * 1000 + 1000)));
    }
}

TEST(Segments, AreOneOfWhatIsShortOrOfAnotherKind)
{
    const auto count = [](const Bytes &frame, size_t size) {
        return segment_count(frame, parse(frame), size);
    };
    const Bytes udp = frames::datagram(1, 1000);
    EXPECT_EQ(count(udp, 1000), 1u);
    EXPECT_EQ(count(udp, 999), 2u);
    EXPECT_EQ(count(udp, 0), 1u);
    EXPECT_EQ(count(frames::ethernet(0x0806, Bytes(100)), 10), 1u);
    EXPECT_EQ(count(frames::ethernet(0x0800, frames::ipv4(IPPROTO_UDP, "10.0.0.1", "10.0.0.2",
                                                          frames::udp(1, 2, Bytes(100)), 0x2000)),
                    10),
              1u);
    // A TCP header that says that it is longer than the packet, or shorter than it can be.
    for (const uint8_t offset : {uint8_t{0xf0}, uint8_t{0x10}}) {
        Bytes tcp = frames::tcp(1, 2, Bytes(30));
        tcp[12] = offset;
        EXPECT_EQ(count(frames::ethernet(0x0800, frames::ipv4(IPPROTO_TCP, "10.0.0.1", "10.0.0.2", tcp)), 10),
                  1u);
    }
}

}  // namespace
