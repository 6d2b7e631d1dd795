// SPDX-License-Identifier: BSD-2-Clause
// The invariant CRC of a RoCEv2 packet: over the IP and UDP headers, with what routers change set to ones,
// and the packet (IBTA A17 and 7.8.1).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urxe::wire {

/// Sixteen bytes of address in network order, as in a GID: IPv6, or IPv4 mapped into it (::ffff:a.b.c.d).
using Address = std::array<uint8_t, 16>;

/// In front of the four bytes of an IPv4 address (RFC 4291, 2.5.5.2).
constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

constexpr bool is_ipv4(const Address &address)
{
    return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
}

constexpr bool is_multicast(const Address &address)
{
    return is_ipv4(address) ? address[12] >> 4 == 0xe : address[0] == 0xff;
}

/// Between which addresses and UDP ports (in host order) a packet travels. When both addresses are mapped
/// ones the packet is IPv4.
struct Flow {
    Address source;
    Address destination;
    uint16_t source_port;
    uint16_t destination_port;

    bool operator==(const Flow &) const = default;
};

/// The ICRC of a packet that is given in pieces: the one that begins with the BTH first, and payload and pad
/// after it.
class Icrc {
public:
    /// packet_size is that of the whole packet, the ICRC among it. In IPv4 the packet is never fragmented
    /// (DF), and bears that identification; a datagram socket that forbids fragments sends 0.
    Icrc(const Flow &flow, size_t packet_size, uint16_t identification = 0);

    /// The first piece: the BTH (12 bytes), and whatever follows it.
    void add_headers(std::span<const uint8_t> bytes);

    /// A further piece, of any length.
    void add(std::span<const uint8_t> bytes);

    /// The ICRC as a number; on the wire its least significant byte comes first.
    uint32_t value() const { return ~register_; }

private:
    uint32_t register_;
};

/// Writes the ICRC of a packet that build() made into its last four bytes; the identification is IPv4's.
void icrc_seal(const Flow &flow, std::span<uint8_t> packet, uint16_t identification = 0);

/// Checks a packet that parse() accepts. The identification in its IPv4 header is not known to whoever reads
/// from a socket: it is the one under which the ICRC is right, and the answer; 0 in IPv6. Nothing when there
/// is none: the packet is damaged. A damaged packet of IPv4 passes once in 2^16 instead of 2^32 times when it
/// has more errors than those that CRC-32 always finds.
std::optional<uint16_t> icrc_check(const Flow &flow, std::span<const uint8_t> packet);

}  // namespace urxe::wire
