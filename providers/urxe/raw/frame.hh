// SPDX-License-Identifier: BSD-2-Clause
// The headers of an Ethernet frame.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace urxe::raw {

/// Bytes in front of what follows the addresses and the type.
constexpr size_t kEthernetHeader = 14;

/// What a frame has, each header in the form and byte order of the flow specifications' filters.
struct Headers {
    bool is_frame;  ///< not: too short for one, and nothing else is set
    bool has_vlan;
    bool has_ipv4, has_ipv6;  ///< at most one
    uint8_t transport;        ///< IPPROTO_TCP or IPPROTO_UDP: `ports` are there; else 0
    ibv_flow_eth_filter eth;  ///< the outermost VLAN tag; the type behind the last (IEEE 802.1Q)
    ibv_flow_ipv4_ext_filter ipv4;
    ibv_flow_ipv6_filter ipv6;  ///< next_hdr is that of the fixed header
    ibv_flow_tcp_udp_filter ports;
    size_t network_at;    ///< where the IP header begins; 0: there is none
    size_t transport_at;  ///< where the TCP or UDP header begins, if there is one
    size_t end;           ///< of the IP packet; what is behind it is padding
    bool is_fragment;     ///< of an IP packet: checksums of its transport cover more than the frame has
};

/// Any bytes at all. A header that is cut short or says nonsense is not there, and none behind it; of a packet in fragments,
/// the first alone has ports (RFC 791, RFC 8200).
Headers parse(std::span<const uint8_t> frame);

}  // namespace urxe::raw
