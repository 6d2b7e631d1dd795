// SPDX-License-Identifier: BSD-2-Clause
// The global route header that comes in front of a datagram's payload.
#include "direct/grh.hh"

#include <arpa/inet.h>
#include <netinet/ip.h>

#include <bit>
#include <cstring>

#include "wire/icrc.hh"

namespace urxe::direct {
namespace {

/// Behind the addresses: UDP, BTH, DETH, immediate data, ICRC.
constexpr size_t kHeaders = 8 + 12 + 8;
constexpr size_t kIcrc = 4;

bool is_ipv4(const ibv_gid &gid)
{
    return wire::is_ipv4(std::bit_cast<wire::Address>(gid));
}

uint16_t checksum(const iphdr &header)
{
    uint16_t words[sizeof header / 2];
    std::memcpy(words, &header, sizeof header);
    uint32_t sum = 0;
    for (const uint16_t word : words)
        sum += word;
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~(sum + (sum >> 16)));
}

}  // namespace

void write_grh(const Request &request, uint8_t (&grh)[sizeof(ibv_grh)])
{
    const auto &datagram = request.datagram;
    const size_t immediate = request.opcode == IBV_WR_SEND_WITH_IMM ? 4 : 0;
    const size_t length = kHeaders + immediate + ((request.length + 3) & ~uint64_t{3}) + kIcrc;
    if (is_ipv4(datagram.source) && is_ipv4(datagram.destination)) {
        iphdr header{};
        header.version = 4;
        header.ihl = sizeof header / 4;
        header.tos = datagram.traffic_class;
        header.tot_len = htons(static_cast<uint16_t>(sizeof header + length));
        header.frag_off = htons(0x4000);
        header.ttl = datagram.hop_limit;
        header.protocol = IPPROTO_UDP;
        std::memcpy(&header.saddr, datagram.source.raw + 12, sizeof header.saddr);
        std::memcpy(&header.daddr, datagram.destination.raw + 12, sizeof header.daddr);
        header.check = checksum(header);
        std::memset(grh, 0, sizeof grh - sizeof header);
        std::memcpy(grh + sizeof grh - sizeof header, &header, sizeof header);
        return;
    }
    ibv_grh header{};
    header.version_tclass_flow =
        htonl(6U << 28 | uint32_t{datagram.traffic_class} << 20 | (datagram.flow_label & 0xfffff));
    header.paylen = htons(static_cast<uint16_t>(length));
    header.next_hdr = IPPROTO_UDP;
    header.hop_limit = datagram.hop_limit;
    header.sgid = datagram.source;
    header.dgid = datagram.destination;
    std::memcpy(grh, &header, sizeof header);
}

}  // namespace urxe::direct
