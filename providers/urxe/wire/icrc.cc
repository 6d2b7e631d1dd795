// SPDX-License-Identifier: BSD-2-Clause
// The invariant CRC: pseudo-headers, and the IPv4 identification that solves the equation.
#include "wire/icrc.hh"

#include <algorithm>

#include "wire/bytes.hh"
#include "wire/crc32.hh"
#include "wire/packet.hh"

namespace urxe::wire {

namespace {

/// The register once it has taken eight bytes of ones, which stand for the link layer's header that RoCEv2
/// does not have.
constexpr uint32_t kIcrcStart = 0xdebb20e3;

constexpr size_t kUdpSize = 8;
constexpr size_t kIpv4Size = 20;
constexpr size_t kIpv4IdentificationOffset = 4;
constexpr size_t kIpv6Size = 40;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint8_t kOnes = 0xff;

bool is_ipv4(const Flow &flow)
{
    return wire::is_ipv4(flow.source) && wire::is_ipv4(flow.destination);
}

/// The IPv4 header with type of service, time to live and checksum as ones.
uint8_t *put_ipv4(uint8_t *to, const Flow &flow, size_t udp_length, uint16_t identification)
{
    to[0] = 0x45;
    to[1] = kOnes;
    store_big<2>(to + 2, kIpv4Size + udp_length);
    store_big<2>(to + kIpv4IdentificationOffset, identification);
    store_big<2>(to + 6, 0x4000);
    to[8] = kOnes;
    to[9] = kProtocolUdp;
    store_big<2>(to + 10, 0xffff);
    std::copy(flow.source.begin() + 12, flow.source.end(), to + 12);
    std::copy(flow.destination.begin() + 12, flow.destination.end(), to + 16);
    return to + kIpv4Size;
}

/// The IPv6 header with traffic class, flow label and hop limit as ones.
uint8_t *put_ipv6(uint8_t *to, const Flow &flow, size_t udp_length)
{
    store_big<4>(to, 0x6fffffff);
    store_big<2>(to + 4, udp_length);
    to[6] = kProtocolUdp;
    to[7] = kOnes;
    std::copy(flow.source.begin(), flow.source.end(), to + 8);
    std::copy(flow.destination.begin(), flow.destination.end(), to + 24);
    return to + kIpv6Size;
}

/// The UDP header with the checksum as ones.
uint8_t *put_udp(uint8_t *to, const Flow &flow, size_t udp_length)
{
    store_big<2>(to, flow.source_port);
    store_big<2>(to + 2, flow.destination_port);
    store_big<2>(to + 4, udp_length);
    store_big<2>(to + 6, 0xffff);
    return to + kUdpSize;
}

uint32_t load_icrc(const uint8_t *from)
{
    return from[0] | uint32_t{from[1]} << 8 | uint32_t{from[2]} << 16 | uint32_t{from[3]} << 24;
}

constexpr size_t kMaxWordsBack =
    (kIpv4Size - kIpv4IdentificationOffset + kUdpSize + kMaxPacketSize - kIcrcSize) / 4;

/// x^(-32 n): the factor that takes a register back over n words of four bytes.
constexpr std::array<uint32_t, kMaxWordsBack + 1> make_words_back()
{
    std::array<uint32_t, kMaxWordsBack + 1> factors{};
    uint32_t factor = 0x80000000;
    for (uint32_t &entry : factors) {
        entry = factor;
        for (int bit = 0; bit < 32; ++bit)
            factor = crc32_over_x(factor);
    }
    return factors;
}

constexpr auto kWordsBack = make_words_back();

}  // namespace

Icrc::Icrc(const Flow &flow, size_t packet_size, uint16_t identification)
{
    uint8_t header[kIpv6Size + kUdpSize];
    size_t udp_length = kUdpSize + packet_size;
    uint8_t *end = is_ipv4(flow) ? put_ipv4(header, flow, udp_length, identification)
                                 : put_ipv6(header, flow, udp_length);
    end = put_udp(end, flow, udp_length);
    register_ = crc32_update(kIcrcStart, {header, end});
}

void Icrc::add_headers(std::span<const uint8_t> bytes)
{
    uint8_t bth[kBthSize];
    std::copy_n(bytes.begin(), kBthSize, bth);
    // FECN, BECN and six reserved bits, which switches may set.
    bth[4] = kOnes;
    add(bth);
    add(bytes.subspan(kBthSize));
}

void Icrc::add(std::span<const uint8_t> bytes)
{
    register_ = crc32_update(register_, bytes);
}

void icrc_seal(const Flow &flow, std::span<uint8_t> packet, uint16_t identification)
{
    Icrc icrc(flow, packet.size(), identification);
    icrc.add_headers(packet.first(packet.size() - kIcrcSize));
    uint32_t value = icrc.value();
    for (uint8_t &byte : packet.last(kIcrcSize)) {
        byte = static_cast<uint8_t>(value);
        value >>= 8;
    }
}

std::optional<uint16_t> icrc_check(const Flow &flow, std::span<const uint8_t> packet)
{
    if (packet.size() < kBthSize + kIcrcSize || packet.size() > kMaxPacketSize || packet.size() % 4 != 0)
        return {};
    Icrc icrc(flow, packet.size());
    icrc.add_headers(packet.first(packet.size() - kIcrcSize));
    uint32_t difference = icrc.value() ^ load_icrc(packet.data() + packet.size() - kIcrcSize);
    if (difference == 0)
        return uint16_t{0};
    if (!is_ipv4(flow))
        return {};
    // CRCs are linear: the difference is what the identification alone, with zeroes behind it, makes of a
    // register of zero. Taken back to where it entered the register, its two bytes are the low ones, in the
    // order in which they were sent.
    size_t words = (kIpv4Size - kIpv4IdentificationOffset + kUdpSize + packet.size() - kIcrcSize) / 4;
    uint32_t entered = crc32_multiply(difference, kWordsBack[words]);
    if (entered > 0xffff)
        return {};
    return static_cast<uint16_t>(entered << 8 | entered >> 8);
}

}  // namespace urxe::wire
