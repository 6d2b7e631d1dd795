// SPDX-License-Identifier: BSD-2-Clause
// The way back to the sender of a datagram, from its completion and the 40 bytes in front of its payload.
#include <endian.h>
#include <infiniband/driver.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::Result;
using verbs::Status;

namespace {

constexpr uint8_t kNextHeaderIba = 0x1b;  // IBTA 8.3: what follows is an InfiniBand transport header
constexpr uint32_t kFlowLabelMask = 0xfffff;

/// The IPv4 header of a RoCE v2 datagram: the last 20 of the 40 bytes, the others being undefined (IBTA A17.4.5.2).
struct Ipv4Header {
    uint8_t version_length;
    uint8_t type_of_service;
    uint16_t total_length;
    uint16_t identification;
    uint16_t fragment;
    uint8_t time_to_live;
    uint8_t protocol;
    uint16_t checksum;
    uint8_t source[4];
    uint8_t destination[4];
};
static_assert(sizeof(Ipv4Header) == 20);

/// What a network header says on the way back.
struct Sender {
    ibv_gid gid;
    ibv_gid receiver;
    bool roce_v2;
    uint8_t hop_limit;
    uint8_t traffic_class;
};

Ipv4Header ipv4_part(const ibv_grh &grh)
{
    Ipv4Header header;
    std::memcpy(&header, reinterpret_cast<const char *>(&grh) + sizeof grh - sizeof header, sizeof header);
    return header;
}

/// The checksum that a header without options should have (RFC 791), as it stands in the header.
uint16_t checksum_of(Ipv4Header header)
{
    header.checksum = 0;
    uint16_t words[sizeof header / sizeof(uint16_t)];
    std::memcpy(words, &header, sizeof words);
    uint32_t sum = 0;
    for (uint16_t word : words)
        sum += word;
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

/// The IP version of the header. What precedes an IPv4 header may happen to look like the start of an IPv6 one,
/// and part of an IPv6 address like an IPv4 header; then the checksum decides.
int ip_version(const ibv_grh &grh)
{
    Ipv4Header ipv4 = ipv4_part(grh);
    bool looks_like_6 = be32toh(grh.version_tclass_flow) >> 28 == 6;
    bool looks_like_4 = ipv4.version_length >> 4 == 4;
    if (looks_like_4 &&
        (!looks_like_6 || (ipv4.version_length == 0x45 && ipv4.checksum == checksum_of(ipv4))))
        return 4;
    return looks_like_6 ? 6 : 0;
}

ibv_gid mapped(const uint8_t (&address)[4])
{
    ibv_gid gid = {};
    gid.raw[10] = gid.raw[11] = 0xff;
    std::memcpy(gid.raw + 12, address, sizeof address);
    return gid;
}

/// EPROTONOSUPPORT: neither an InfiniBand nor a RoCE datagram.
Result<Sender> parse(const ibv_grh &grh)
{
    switch (ip_version(grh)) {
        case 4: {
            Ipv4Header ipv4 = ipv4_part(grh);
            return Sender{mapped(ipv4.source), mapped(ipv4.destination), true, ipv4.time_to_live,
                          ipv4.type_of_service};
        }
        case 6:
            if (grh.next_hdr != IPPROTO_UDP && grh.next_hdr != kNextHeaderIba)
                return Status(EPROTONOSUPPORT);
            return Sender{grh.sgid, grh.dgid, grh.next_hdr == IPPROTO_UDP, grh.hop_limit,
                          static_cast<uint8_t>(be32toh(grh.version_tclass_flow) >> 20)};
        default:
            return Status(EPROTONOSUPPORT);
    }
}

/// The index of a GID in the table of a port. EINVAL where it is not there.
Result<uint8_t> gid_index(ibv_context *context, uint8_t port_num, const ibv_gid &gid, bool roce_v2)
{
    ibv_port_attr port = {};
    if (int error = verbs::provider::ops(context).query_port(context, port_num, &port); error != 0)
        return Status(error);
    int size = std::min(port.gid_tbl_len, UINT8_MAX + 1);
    for (int index = 0; index < size; ++index) {
        ibv_gid_entry entry = {};
        int error = ibv_query_gid_ex(context, port_num, static_cast<uint32_t>(index), &entry, 0);
        if (error != 0 && error != ENODATA)
            return Status(error);
        if (error == 0 && (entry.gid_type == IBV_GID_TYPE_ROCE_V2) == roce_v2 &&
            std::memcmp(&entry.gid, &gid, sizeof gid) == 0)
            return static_cast<uint8_t>(index);
    }
    return Status(EINVAL);
}

}  // namespace

VERBS_EXPORT int ibv_init_ah_from_wc(ibv_context *context, uint8_t port_num, ibv_wc *wc, ibv_grh *grh,
                                     ibv_ah_attr *ah_attr)
{
    ibv_ah_attr attr = {};
    attr.dlid = wc->slid;
    attr.sl = wc->sl;
    attr.src_path_bits = wc->dlid_path_bits;
    attr.port_num = port_num;
    // Filled in even where no header was received, or one without a flow label. ABI-frozen.
    if (grh != nullptr)
        attr.grh.flow_label = be32toh(grh->version_tclass_flow) & kFlowLabelMask;

    if ((wc->wc_flags & IBV_WC_GRH) != 0) {
        if (grh == nullptr)
            return verbs::minus_one_with(EINVAL);
        Result<Sender> sender = parse(*grh);
        if (!sender)
            return verbs::minus_one_with(sender.error());
        Result<uint8_t> index = gid_index(context, port_num, sender->receiver, sender->roce_v2);
        if (!index)
            return verbs::minus_one_with(index.error());
        attr.is_global = 1;
        attr.grh.dgid = sender->gid;
        attr.grh.sgid_index = *index;
        attr.grh.hop_limit = sender->hop_limit;
        attr.grh.traffic_class = sender->traffic_class;
    }
    *ah_attr = attr;
    return 0;
}

VERBS_EXPORT ibv_ah *ibv_create_ah_from_wc(ibv_pd *pd, ibv_wc *wc, ibv_grh *grh, uint8_t port_num)
{
    ibv_ah_attr attr;
    if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0)
        return nullptr;
    return ibv_create_ah(pd, &attr);
}
