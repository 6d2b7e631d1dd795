// SPDX-License-Identifier: BSD-2-Clause
// CRC-32 and the invariant CRC: against a CRC that goes bit by bit over headers laid out here, and against
// the kernel's.
#include "wire/icrc.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "golden.hh"
#include "wire/crc32.hh"

namespace urxe::wire::test {

namespace {

uint32_t crc32_bit_by_bit(std::span<const uint8_t> bytes)
{
    uint32_t value = 0xffffffff;
    for (uint8_t byte : bytes) {
        for (int bit = 0; bit < 8; ++bit) {
            uint32_t out = (value ^ byte >> bit) & 1;
            value = value >> 1 ^ (out != 0 ? 0xedb88320 : 0);
        }
    }
    return ~value;
}

void append(Bytes &to, std::initializer_list<unsigned> bytes)
{
    for (unsigned byte : bytes)
        to.push_back(static_cast<uint8_t>(byte));
}

/// With the ICRC that a sender puts there who fills the identification in.
Bytes sealed(const Flow &flow, unsigned identification, Bytes packet)
{
    auto udp = static_cast<unsigned>(8 + packet.size());
    unsigned source = flow.source_port;
    unsigned destination = flow.destination_port;
    Bytes covered(8, 0xff);
    if (flow.source[10] == 0xff) {
        append(covered, {0x45, 0xff, (20 + udp) >> 8 & 0xff, (20 + udp) & 0xff});
        append(covered, {identification >> 8, identification & 0xff, 0x40, 0, 0xff, 17, 0xff, 0xff});
        covered.insert(covered.end(), flow.source.begin() + 12, flow.source.end());
        covered.insert(covered.end(), flow.destination.begin() + 12, flow.destination.end());
    } else {
        append(covered, {0x6f, 0xff, 0xff, 0xff, udp >> 8 & 0xff, udp & 0xff, 17, 0xff});
        covered.insert(covered.end(), flow.source.begin(), flow.source.end());
        covered.insert(covered.end(), flow.destination.begin(), flow.destination.end());
    }
    append(covered, {source >> 8, source & 0xff, destination >> 8, destination & 0xff});
    append(covered, {udp >> 8 & 0xff, udp & 0xff, 0xff, 0xff});
    size_t bth = covered.size();
    covered.insert(covered.end(), packet.begin(), packet.end() - 4);
    covered[bth + 4] = 0xff;
    uint32_t crc = crc32_bit_by_bit(covered);
    for (size_t i = 0; i < 4; ++i)
        packet[packet.size() - 4 + i] = static_cast<uint8_t>(crc >> (8 * i));
    return packet;
}

class Random {
public:
    explicit Random(uint32_t seed) : engine_(seed) {}

    uint32_t number() { return static_cast<uint32_t>(engine_()); }

    Bytes bytes(size_t size)
    {
        Bytes bytes(size);
        std::generate(bytes.begin(), bytes.end(), [this] { return static_cast<uint8_t>(number()); });
        return bytes;
    }

    Flow flow(bool as_ipv4)
    {
        Flow flow{};
        for (Address *address : {&flow.source, &flow.destination}) {
            Bytes random = bytes(address->size());
            random[0] = 0x20;
            random[10] = 0;
            if (as_ipv4) {
                std::fill_n(random.begin(), 10, uint8_t{0});
                random[10] = random[11] = 0xff;
            }
            std::copy(random.begin(), random.end(), address->begin());
        }
        flow.source_port = static_cast<uint16_t>(number());
        flow.destination_port = kRoceUdpPort;
        return flow;
    }

    /// A SEND of so many bytes.
    Bytes packet(size_t payload_size)
    {
        Bytes payload = bytes(payload_size);
        Packet packet{};
        packet.bth.opcode = opcode_of(Transport::kRc, Operation::kSendOnly);
        packet.bth.psn = number();
        packet.bth.dest_qpn = number();
        packet.bth.becn = number() % 2 == 0;
        packet.payload = payload;
        Bytes bytes(kMaxPacketSize);
        bytes.resize(build(packet, bytes));
        return bytes;
    }

private:
    std::mt19937 engine_;
};

}  // namespace

TEST(Crc32, HasTheCheckValue)
{
    const uint8_t digits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    EXPECT_EQ(~crc32_update(kCrc32Start, digits), 0xcbf43926u);
    EXPECT_EQ(crc32_bit_by_bit(digits), 0xcbf43926u);
}

TEST(Crc32, IsTheSameInAnyPieces)
{
    Random random(1);
    for (size_t size = 0; size < 200; ++size) {
        Bytes bytes = random.bytes(size);
        uint32_t expected = crc32_bit_by_bit(bytes);
        ASSERT_EQ(~crc32_update(kCrc32Start, bytes), expected) << size;
        size_t cut = size == 0 ? 0 : random.number() % size;
        uint32_t value = crc32_update(kCrc32Start, std::span(bytes).first(cut));
        ASSERT_EQ(~crc32_update(value, std::span(bytes).subspan(cut)), expected) << size << " cut at " << cut;
    }
}

TEST(Crc32, MultipliesAndDivides)
{
    constexpr uint32_t kOne = 0x80000000;
    Random random(2);
    for (int i = 0; i < 1000; ++i) {
        uint32_t a = random.number();
        uint32_t b = random.number();
        ASSERT_EQ(crc32_over_x(crc32_times_x(a)), a);
        ASSERT_EQ(crc32_times_x(crc32_over_x(a)), a);
        ASSERT_EQ(crc32_multiply(a, kOne), a);
        ASSERT_EQ(crc32_multiply(a, b), crc32_multiply(b, a));
        ASSERT_EQ(crc32_multiply(a, kOne >> 1), crc32_times_x(a));
    }
}

TEST(Icrc, IsWhatTheSpecificationCovers)
{
    Random random(3);
    for (int i = 0; i < 400; ++i) {
        Flow flow = random.flow(i % 2 == 0);
        Bytes packet = random.packet(random.number() % 4097);
        Bytes expected = sealed(flow, 0, packet);
        icrc_seal(flow, packet);
        ASSERT_EQ(packet, expected);
        ASSERT_EQ(icrc_check(flow, packet), 0);
    }
}

TEST(Icrc, OfTheKernelIsRight)
{
    size_t ipv4 = 0;
    size_t ipv6 = 0;
    for (const Recorded &recorded : recorded_packets()) {
        ASSERT_EQ(icrc_check(recorded.flow, recorded.bytes), recorded.identification) << recorded.line;
        ++(recorded.flow.source[10] == 0xff ? ipv4 : ipv6);
    }
    EXPECT_GE(ipv4, 20u);
    EXPECT_GE(ipv6, 20u);
}

TEST(Icrc, IsTheSameInPieces)
{
    Random random(4);
    Flow flow = random.flow(true);
    Bytes packet = sealed(flow, 0xabcd, random.packet(777));
    size_t end = packet.size() - kIcrcSize;
    for (size_t cut = kBthSize; cut <= end; ++cut) {
        Icrc icrc(flow, packet.size(), 0xabcd);
        icrc.add_headers(std::span(packet).first(cut));
        icrc.add(std::span(packet).subspan(cut, end - cut));
        uint32_t value = icrc.value();
        for (size_t i = 0; i < 4; ++i)
            ASSERT_EQ(packet[end + i], value >> (8 * i) & 0xff) << cut;
    }
}

TEST(Icrc, TellsTheIdentification)
{
    Random random(5);
    for (int i = 0; i < 1000; ++i) {
        Flow flow = random.flow(true);
        unsigned identification = random.number() & 0xffff;
        Bytes packet = sealed(flow, identification, random.packet(random.number() % 4097));
        ASSERT_EQ(icrc_check(flow, packet), identification);
    }
}

TEST(Icrc, TellsEveryIdentification)
{
    Random random(6);
    Flow flow = random.flow(true);
    Bytes packet = random.packet(4);
    for (unsigned identification = 0; identification <= 0xffff; ++identification)
        ASSERT_EQ(icrc_check(flow, sealed(flow, identification, packet)), identification);
}

TEST(Icrc, HoldsForEveryOpcode)
{
    Random random(7);
    for (const Golden &one : golden_packets()) {
        Flow flow = random.flow(true);
        EXPECT_EQ(icrc_check(flow, sealed(flow, 0x1234, one.bytes)), 0x1234) << one.operation;
        Flow flow6 = random.flow(false);
        EXPECT_EQ(icrc_check(flow6, sealed(flow6, 0, one.bytes)), 0) << one.operation;
    }
}

TEST(Icrc, FindsEverySingleBitError)
{
    Random random(8);
    for (bool as_ipv4 : {true, false}) {
        Flow flow = random.flow(as_ipv4);
        for (size_t payload_size : {0, 1, 64, 256, 1024}) {
            Bytes packet = sealed(flow, as_ipv4 ? 0x5a5a : 0, random.packet(payload_size));
            for (size_t bit = 0; bit < packet.size() * 8; ++bit) {
                auto flip = static_cast<uint8_t>(1u << bit % 8);
                packet[bit / 8] ^= flip;
                // Byte 4 is what switches may change: it is not covered.
                ASSERT_EQ(icrc_check(flow, packet).has_value(), bit / 8 == 4)
                    << "bit " << bit << " of " << payload_size;
                packet[bit / 8] ^= flip;
            }
            for (unsigned bit = 0; bit < 32; ++bit) {
                auto flip = static_cast<uint8_t>(1u << bit % 8);
                Flow other = flow;
                other.source[12 + bit / 8] ^= flip;
                ASSERT_FALSE(icrc_check(other, packet)) << "source, bit " << bit;
                other = flow;
                other.destination[12 + bit / 8] ^= flip;
                ASSERT_FALSE(icrc_check(other, packet)) << "destination, bit " << bit;
                other = flow;
                other.source_port = static_cast<uint16_t>(other.source_port ^ 1u << bit % 16);
                ASSERT_FALSE(icrc_check(other, packet)) << "port, bit " << bit % 16;
            }
        }
    }
}

TEST(Icrc, RefusesLengthsThatNoPacketHas)
{
    Random random(9);
    Flow flow = random.flow(true);
    for (size_t size : {size_t{0}, size_t{4}, kBthSize, kBthSize + 3, kBthSize + 5, kMaxPacketSize + 4}) {
        Bytes bytes(size);
        EXPECT_FALSE(icrc_check(flow, bytes)) << size;
    }
    EXPECT_EQ(icrc_check(flow, sealed(flow, 0xffff, Bytes(kMaxPacketSize))), 0xffff);
}

}  // namespace urxe::wire::test
