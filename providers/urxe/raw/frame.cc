// SPDX-License-Identifier: BSD-2-Clause
// Taking the headers of an Ethernet frame apart.
#include "raw/frame.hh"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace urxe::raw {
namespace {

constexpr uint16_t kTypeIpv4 = 0x0800, kTypeIpv6 = 0x86dd, kTypeVlan = 0x8100, kTypeServiceVlan = 0x88a8;
constexpr size_t kVlanTag = 4;
constexpr size_t kIpv4Header = 20, kIpv6Header = 40, kUdpHeader = 8, kTcpHeader = 20;

uint16_t number16(const uint8_t *bytes)
{
    return static_cast<uint16_t>(bytes[0] << 8 | bytes[1]);
}

void parse_transport(std::span<const uint8_t> frame, size_t at, uint8_t protocol, Headers &headers)
{
    const size_t size = protocol == IPPROTO_TCP ? kTcpHeader : protocol == IPPROTO_UDP ? kUdpHeader : 0;
    if (size == 0 || at + size > headers.end)
        return;
    headers.transport = protocol;
    headers.transport_at = at;
    std::memcpy(&headers.ports.src_port, &frame[at], 2);
    std::memcpy(&headers.ports.dst_port, &frame[at + 2], 2);
}

void parse_ipv4(std::span<const uint8_t> frame, size_t at, Headers &headers)
{
    const size_t left = frame.size() - at;
    if (left < kIpv4Header || frame[at] >> 4 != 4)
        return;
    const uint8_t *header = &frame[at];
    const size_t size = size_t{4} * (header[0] & 0xf), total = number16(header + 2);
    if (size < kIpv4Header || total < size || total > left)
        return;
    headers.has_ipv4 = true;
    headers.network_at = at;
    headers.end = at + total;
    headers.ipv4.tos = header[1];
    headers.ipv4.ttl = header[8];
    headers.ipv4.proto = header[9];
    std::memcpy(&headers.ipv4.src_ip, header + 12, 4);
    std::memcpy(&headers.ipv4.dst_ip, header + 16, 4);
    const uint16_t fragment = number16(header + 6);
    headers.is_fragment = (fragment & 0x3fff) != 0;
    if ((fragment & 0x1fff) == 0)
        parse_transport(frame, at + size, header[9], headers);
}

void parse_ipv6(std::span<const uint8_t> frame, size_t at, Headers &headers)
{
    const size_t left = frame.size() - at;
    if (left < kIpv6Header || frame[at] >> 4 != 6)
        return;
    const uint8_t *header = &frame[at];
    const size_t payload = number16(header + 4);
    if (payload > left - kIpv6Header)
        return;
    headers.has_ipv6 = true;
    headers.network_at = at;
    headers.end = at + kIpv6Header + payload;
    headers.ipv6.traffic_class = static_cast<uint8_t>(number16(header) >> 4);
    headers.ipv6.flow_label = htonl((uint32_t{header[1]} << 16 | number16(header + 2)) & 0xfffff);
    headers.ipv6.next_hdr = header[6];
    headers.ipv6.hop_limit = header[7];
    std::memcpy(headers.ipv6.src_ip, header + 8, 16);
    std::memcpy(headers.ipv6.dst_ip, header + 24, 16);
    // Extension headers until there is one that is none (RFC 8200 4).
    uint8_t next = header[6];
    size_t place = at + kIpv6Header;
    while (place + 8 <= headers.end) {
        if (next == IPPROTO_FRAGMENT) {
            const uint16_t fragment = number16(&frame[place + 2]);
            headers.is_fragment = (fragment & 0xfff9) != 0;
            if ((fragment & 0xfff8) != 0)
                return;
            next = frame[place];
            place += 8;
        } else if (next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS) {
            next = frame[place];
            place += 8 + size_t{8} * frame[place + 1];
        } else {
            return parse_transport(frame, place, next, headers);
        }
    }
}

}  // namespace

Headers parse(std::span<const uint8_t> frame)
{
    Headers headers{};
    if (frame.size() < kEthernetHeader)
        return headers;
    headers.is_frame = true;
    std::copy_n(frame.begin(), 6, headers.eth.dst_mac);
    std::copy_n(frame.begin() + 6, 6, headers.eth.src_mac);
    size_t at = kEthernetHeader;
    uint16_t type = number16(&frame[12]);
    while ((type == kTypeVlan || type == kTypeServiceVlan) && frame.size() >= at + kVlanTag) {
        if (!headers.has_vlan)
            std::memcpy(&headers.eth.vlan_tag, &frame[at], 2);
        headers.has_vlan = true;
        type = number16(&frame[at + 2]);
        at += kVlanTag;
    }
    headers.eth.ether_type = htons(type);
    if (type == kTypeIpv4)
        parse_ipv4(frame, at, headers);
    else if (type == kTypeIpv6)
        parse_ipv6(frame, at, headers);
    return headers;
}

}  // namespace urxe::raw
