// SPDX-License-Identifier: BSD-2-Clause
// Packets of every opcode: values from bytes, bytes from values, and malformed ones refused for the right
// reason.
#include "wire/packet.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "golden.hh"

namespace urxe::wire::test {

namespace {

/// Parses from memory of exactly that size, so that a sanitizer sees each byte that is read beyond it. The
/// payload is not to be used afterwards.
Reason parse_exact(std::span<const uint8_t> bytes, Packet &packet)
{
    std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), copy.get());
    return parse({copy.get(), bytes.size()}, packet);
}

Reason reason_of(std::span<const uint8_t> bytes)
{
    Packet packet{};
    return parse_exact(bytes, packet);
}

const Golden &golden(uint8_t opcode)
{
    const auto &packets = golden_packets();
    return *std::find_if(packets.begin(), packets.end(),
                         [opcode](const Golden &one) { return one.bytes[0] == opcode; });
}

std::string name(const Golden &one)
{
    return one.transport + " " + one.operation;
}

/// The values that all golden packets bear, those of headers that a packet does not have among them.
Packet golden_values(const Golden &one)
{
    Packet packet{};
    const Bytes &bytes = one.bytes;
    packet.bth = {.opcode = bytes[0],
                  .solicited = (bytes[1] & 0x80) != 0,
                  .migrated = (bytes[1] & 0x40) != 0,
                  .pad = 0,
                  .pkey = static_cast<uint16_t>(bytes[2] << 8 | bytes[3]),
                  .fecn = (bytes[4] & 0x80) != 0,
                  .becn = (bytes[4] & 0x40) != 0,
                  .dest_qpn = 0x012345,
                  .ack_request = bytes[8] == 0x80,
                  .psn = 0xabcdef};
    packet.deth = {.qkey = 0x80010000, .source_qpn = 0xbeef01};
    packet.xrceth = {.srqn = 0xc0ffee};
    packet.feth = {.placement = kPlacementGlobal | kPlacementPersistent, .selectivity = kSelectRegion};
    packet.reth = {.address = 0x1122334455667788, .rkey = 0x99aabbcc, .length = 0xabc};
    packet.atomic = {.address = 0x1122334455667788,
                     .rkey = 0x99aabbcc,
                     .swap_or_add = 0x0102030405060708,
                     .compare = 0xf1f2f3f4f5f6f7f8};
    packet.aeth = {.syndrome = ack_syndrome(kNoCreditLimit), .msn = 0x00abcd};
    packet.atomic_ack = {.original = 0xa1a2a3a4a5a6a7a8};
    packet.immediate = {.value = 0xd0d1d2d3};
    packet.ieth = {.rkey = 0xe0e1e2e3};
    packet.payload = std::span(bytes).subspan(one.headers_size, one.payload_size);
    return packet;
}

void expect_values(const Packet &packet, const Packet &expected)
{
    const OpcodeInfo &info = opcode_info(expected.bth.opcode);
    EXPECT_EQ(packet.bth.opcode, expected.bth.opcode);
    EXPECT_EQ(packet.bth.solicited, expected.bth.solicited);
    EXPECT_EQ(packet.bth.migrated, expected.bth.migrated);
    EXPECT_EQ(packet.bth.pkey, expected.bth.pkey);
    EXPECT_EQ(packet.bth.fecn, expected.bth.fecn);
    EXPECT_EQ(packet.bth.becn, expected.bth.becn);
    EXPECT_EQ(packet.bth.dest_qpn, expected.bth.dest_qpn);
    EXPECT_EQ(packet.bth.ack_request, expected.bth.ack_request);
    EXPECT_EQ(packet.bth.psn, expected.bth.psn);
    auto expect = [&info](Header header, auto value, auto wanted) {
        EXPECT_EQ(value, info.has(header) ? wanted : decltype(wanted){}) << "header " << header;
    };
    expect(kHasDeth, packet.deth.qkey, expected.deth.qkey);
    expect(kHasDeth, packet.deth.source_qpn, expected.deth.source_qpn);
    expect(kHasXrceth, packet.xrceth.srqn, expected.xrceth.srqn);
    expect(kHasFeth, packet.feth.placement, expected.feth.placement);
    expect(kHasFeth, packet.feth.selectivity, expected.feth.selectivity);
    expect(kHasReth, packet.reth.address, expected.reth.address);
    expect(kHasReth, packet.reth.rkey, expected.reth.rkey);
    expect(kHasReth, packet.reth.length, expected.reth.length);
    expect(kHasAtomicEth, packet.atomic.address, expected.atomic.address);
    expect(kHasAtomicEth, packet.atomic.rkey, expected.atomic.rkey);
    expect(kHasAtomicEth, packet.atomic.swap_or_add, expected.atomic.swap_or_add);
    expect(kHasAtomicEth, packet.atomic.compare, expected.atomic.compare);
    expect(kHasAeth, packet.aeth.syndrome, expected.aeth.syndrome);
    expect(kHasAeth, packet.aeth.msn, expected.aeth.msn);
    expect(kHasAtomicAckEth, packet.atomic_ack.original, expected.atomic_ack.original);
    expect(kHasImmediate, packet.immediate.value, expected.immediate.value);
    expect(kHasIeth, packet.ieth.rkey, expected.ieth.rkey);
}

}  // namespace

TEST(Packet, GivesTheValuesOfEveryOpcode)
{
    for (const Golden &one : golden_packets()) {
        SCOPED_TRACE(name(one));
        Packet packet{};
        ASSERT_EQ(reason_of(one.bytes), Reason::kNone);
        ASSERT_EQ(parse(one.bytes, packet), Reason::kNone);
        expect_values(packet, golden_values(one));
        EXPECT_EQ(packet.bth.pad, one.bytes.size() - one.headers_size - one.payload_size - kIcrcSize);
        EXPECT_EQ(packet.payload.data(), one.bytes.data() + one.headers_size);
        EXPECT_EQ(packet.payload.size(), one.payload_size);
    }
}

TEST(Packet, IsBuiltByteForByteForEveryOpcode)
{
    for (const Golden &one : golden_packets()) {
        SCOPED_TRACE(name(one));
        Packet packet = golden_values(one);
        Bytes out(one.bytes.size() + 8, 0xee);
        ASSERT_EQ(build(packet, out), one.bytes.size());
        EXPECT_TRUE(std::equal(one.bytes.begin(), one.bytes.end(), out.begin()));
        EXPECT_EQ(std::count(out.end() - 8, out.end(), 0xee), 8);
        Bytes headers(one.headers_size);
        EXPECT_EQ(build_headers(packet, headers), one.headers_size);
        EXPECT_TRUE(std::equal(headers.begin(), headers.end(), one.bytes.begin()));
    }
}

TEST(Packet, IsNotBuiltIntoTooLittleRoom)
{
    for (const Golden &one : golden_packets()) {
        SCOPED_TRACE(name(one));
        Packet packet = golden_values(one);
        for (size_t room :
             {size_t{0}, size_t{1}, one.headers_size - 1, one.headers_size, one.bytes.size() - 1}) {
            Bytes out(room, 0xee);
            EXPECT_EQ(build(packet, out), 0u) << room;
            EXPECT_EQ(static_cast<size_t>(std::count(out.begin(), out.end(), 0xee)), room);
        }
        Bytes headers(one.headers_size - 1);
        EXPECT_EQ(build_headers(packet, headers), 0u);
    }
}

TEST(Packet, OfAnotherOpcodeIsUnknown)
{
    std::set<unsigned> expected;
    for (const Golden &one : golden_packets())
        expected.insert(one.bytes[0]);
    EXPECT_EQ(expected.size(), golden_packets().size());
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        Bytes bytes(kMaxPacketSize);
        bytes[0] = static_cast<uint8_t>(opcode);
        bytes[7] = 5;
        bool known = expected.count(opcode) != 0;
        EXPECT_EQ(opcode_info(bytes[0]).known(), known) << opcode;
        Packet packet{};
        EXPECT_EQ(parse(bytes, packet) == Reason::kUnknownOpcode, !known) << opcode;
        EXPECT_EQ(packet.bth.opcode, opcode);
        EXPECT_EQ(packet.bth.dest_qpn, 5u);
        if (known)
            continue;
        EXPECT_EQ(build(packet, bytes), 0u);
        EXPECT_EQ(build_headers(packet, bytes), 0u);
    }
}

TEST(Packet, IsRefusedOrShorterWhereverItIsCut)
{
    for (const Golden &one : golden_packets()) {
        SCOPED_TRACE(name(one));
        const OpcodeInfo &info = opcode_info(one.bytes[0]);
        size_t pad = one.bytes[1] >> 4 & 3;
        for (size_t length = 0; length < one.bytes.size(); ++length) {
            std::span<const uint8_t> cut = std::span(one.bytes).first(length);
            Packet packet{};
            Reason reason = parse_exact(cut, packet);
            if (length < kBthSize + kIcrcSize) {
                ASSERT_EQ(reason, Reason::kShort) << length;
            } else if (length < one.headers_size + kIcrcSize) {
                ASSERT_EQ(reason, Reason::kTruncated) << length;
            } else if (length % 4 != 0) {
                ASSERT_EQ(reason, Reason::kMisaligned) << length;
            } else if (length - one.headers_size - kIcrcSize < pad) {
                ASSERT_EQ(reason, Reason::kPad) << length;
            } else {
                size_t left = length - one.headers_size - kIcrcSize - pad;
                ASSERT_EQ(reason, info.allows_payload(left) ? Reason::kNone : Reason::kPayloadLength)
                    << length;
                ASSERT_EQ(packet.payload.size(), reason == Reason::kNone ? left : 0);
            }
        }
    }
}

TEST(Packet, HasThePayloadLengthsOfItsOpcode)
{
    struct Lengths {
        std::vector<size_t> good;
        std::vector<size_t> bad;
    };
    const std::map<std::string, Lengths> cases = {
        {"none", {{0}, {1, 4, 8, 256}}},
        {"full", {{256, 512, 1024, 2048, 4096}, {0, 1, 255, 257, 768, 3072, 4092, 4097, 8192}}},
        {"rest", {{1, 2, 255, 4095, 4096}, {0, 4097, 8192}}},
        {"any", {{0, 1, 4095, 4096}, {4097, 8192}}},
        {"eight", {{8}, {0, 7, 9, 16, 256}}},
        {"sixteen", {{16}, {0, 12, 15, 17, 256}}},
    };
    for (const Golden &one : golden_packets()) {
        SCOPED_TRACE(name(one));
        auto check = [&one](size_t size, bool good) {
            Bytes bytes(one.bytes.begin(), one.bytes.begin() + static_cast<ptrdiff_t>(one.headers_size));
            bytes[1] = static_cast<uint8_t>(pad_of(size) << 4);
            bytes.resize(one.headers_size + size + pad_of(size) + kIcrcSize);
            EXPECT_EQ(reason_of(bytes), good ? Reason::kNone : Reason::kPayloadLength) << size;
            Packet packet{};
            packet.bth.opcode = one.bytes[0];
            Bytes payload(size);
            packet.payload = payload;
            Bytes out(bytes.size());
            EXPECT_EQ(build(packet, out), good ? bytes.size() : 0) << size;
        };
        for (size_t size : cases.at(one.length).good)
            check(size, true);
        for (size_t size : cases.at(one.length).bad)
            check(size, false);
    }
}

TEST(Packet, OfAnotherVersionIsRefused)
{
    for (unsigned version = 1; version < 16; ++version) {
        Bytes bytes = golden(0x04).bytes;
        bytes[1] = static_cast<uint8_t>(bytes[1] | version);
        EXPECT_EQ(reason_of(bytes), Reason::kVersion);
    }
}

TEST(Packet, WithMorePadThanThereIsIsRefused)
{
    Bytes bytes = golden(0x04).bytes;
    for (unsigned pad = 1; pad < 4; ++pad) {
        bytes[1] = static_cast<uint8_t>(0xc0 | pad << 4);
        EXPECT_EQ(reason_of(bytes), Reason::kPad);
    }
}

TEST(Packet, TellsThePeerOfOneWhoseLengthIsWrong)
{
    Bytes bytes = golden(0x1d).bytes;
    bytes.resize(bytes.size() + 4);
    Packet packet{};
    ASSERT_EQ(parse(bytes, packet), Reason::kPayloadLength);
    EXPECT_EQ(packet.bth.dest_qpn, 0x012345u);
    EXPECT_EQ(packet.bth.psn, 0xabcdefu);
    EXPECT_EQ(packet.reth.address, 0u);
}

TEST(Packet, IgnoresReservedBits)
{
    const Golden &flush = golden(0xbc);
    Bytes bytes = flush.bytes;
    bytes[4] |= 0x3f;
    bytes[8] |= 0x7f;
    bytes[12] = 0xff;
    bytes[16] = bytes[17] = bytes[18] = 0xff;
    bytes[19] |= 0xc0;
    Packet packet{};
    ASSERT_EQ(parse(bytes, packet), Reason::kNone);
    expect_values(packet, golden_values(flush));
    Bytes again(bytes.size());
    ASSERT_EQ(build(packet, again), bytes.size());
    EXPECT_EQ(again, flush.bytes);
}

TEST(Packet, OfTheKernelIsParsedAndBuiltAgain)
{
    std::set<unsigned> opcodes;
    for (const Recorded &recorded : recorded_packets()) {
        SCOPED_TRACE(recorded.line);
        Packet packet{};
        ASSERT_EQ(parse(recorded.bytes, packet), Reason::kNone);
        opcodes.insert(packet.bth.opcode);
        EXPECT_EQ(packet.bth.pkey, 0xffff);
        Bytes again(recorded.bytes.size());
        ASSERT_EQ(build(packet, again), again.size());
        icrc_seal(recorded.flow, again);
        EXPECT_TRUE(std::equal(again.begin(), again.end() - kIcrcSize, recorded.bytes.begin()));
    }
    EXPECT_GE(opcodes.size(), 20u);
}

TEST(Opcode, SaysWhatItIs)
{
    const std::map<std::string, Transport> transports = {{"RC", Transport::kRc},
                                                         {"UC", Transport::kUc},
                                                         {"UD", Transport::kUd},
                                                         {"XRC", Transport::kXrc},
                                                         {"CNP", Transport::kCongestion}};
    const std::map<std::string, Position> positions = {{"first", Position::kFirst},
                                                       {"middle", Position::kMiddle},
                                                       {"last", Position::kLast},
                                                       {"only", Position::kOnly}};
    const std::pair<const char *, Kind> kinds[] = {{"READ_REQUEST", Kind::kReadRequest},
                                                   {"READ_RESPONSE", Kind::kReadResponse},
                                                   {"ATOMIC_ACK", Kind::kAtomicAcknowledge},
                                                   {"ACK", Kind::kAcknowledge},
                                                   {"ATOMIC_WRITE", Kind::kAtomicWrite},
                                                   {"WRITE", Kind::kWrite},
                                                   {"SEND", Kind::kSend},
                                                   {"COMPARE_SWAP", Kind::kCompareSwap},
                                                   {"FETCH_ADD", Kind::kFetchAdd},
                                                   {"FLUSH", Kind::kFlush},
                                                   {"CONGESTION", Kind::kCongestionNotification}};
    for (const Golden &one : golden_packets()) {
        SCOPED_TRACE(name(one));
        const OpcodeInfo &info = opcode_info(one.bytes[0]);
        EXPECT_EQ(info.transport, transports.at(one.transport));
        EXPECT_EQ(info.position, positions.at(one.place));
        EXPECT_EQ(info.response, one.direction == "response");
        EXPECT_EQ(info.starts_message(), one.place == "first" || one.place == "only");
        EXPECT_EQ(info.ends_message(), one.place == "last" || one.place == "only");
        EXPECT_EQ(info.kind, std::find_if(std::begin(kinds), std::end(kinds), [&one](const auto &kind) {
                                 return one.operation.rfind(kind.first, 0) == 0;
                             })->second);
        EXPECT_EQ(info.headers_size, one.headers_size);
    }
}

}  // namespace urxe::wire::test
