// SPDX-License-Identifier: BSD-2-Clause
// What a port is and can do, in ibv_devinfo's words.
#include <arpa/inet.h>

#include <cstdio>

#include "devinfo.hh"
#include "text.hh"

namespace tools {
namespace {

constexpr Columns kPort = {3, 6};

constexpr Name kPortStates[] = {
    {IBV_PORT_DOWN, "PORT_DOWN"},
    {IBV_PORT_INIT, "PORT_INIT"},
    {IBV_PORT_ARMED, "PORT_ARMED"},
    {IBV_PORT_ACTIVE, "PORT_ACTIVE"},
};

// IBTA 14.2.5.6, PortInfo:PortPhysicalState; 3 is what an Ethernet port that is down reports.
constexpr Name kPhysicalStates[] = {
    {1, "SLEEP"},    {2, "POLLING"},
    {3, "DISABLED"}, {4, "PORT_CONFIGURATION TRAINNING"},
    {5, "LINK_UP"},  {6, "LINK_ERROR_RECOVERY"},
    {7, "PHY TEST"},
};

constexpr Name kMtus[] = {
    {IBV_MTU_256, "256"},   {IBV_MTU_512, "512"},   {IBV_MTU_1024, "1024"},
    {IBV_MTU_2048, "2048"}, {IBV_MTU_4096, "4096"},
};

// IBTA 14.2.5.6, PortInfo: LinkWidthActive, LinkSpeedActive with its extensions, and VLCap.
constexpr Name kWidths[] = {{1, "1"}, {2, "4"}, {4, "8"}, {8, "12"}, {16, "2"}};
constexpr Name kSpeeds[] = {
    {1, "2.5 Gbps"},   {2, "5.0 Gbps"},   {4, "10.0 Gbps"},  {8, "10.0 Gbps"},
    {16, "14.0 Gbps"}, {32, "25.0 Gbps"}, {64, "50.0 Gbps"}, {128, "100.0 Gbps"},
};
constexpr Name kVirtualLanes[] = {{1, "1"}, {2, "2"}, {3, "4"}, {4, "8"}, {5, "15"}};

constexpr Name kLinkLayers[] = {
    {IBV_LINK_LAYER_UNSPECIFIED, "Unspecified"},
    {IBV_LINK_LAYER_INFINIBAND, "InfiniBand"},
    {IBV_LINK_LAYER_ETHERNET, "Ethernet"},
};

void print_gid(int index, const ibv_gid &gid, bool is_roce_v2, bool is_ethernet)
{
    char address[INET6_ADDRSTRLEN];
    if (is_roce_v2) {
        inet_ntop(AF_INET6, gid.raw, address, sizeof(address));
    } else {
        char *end = address;
        for (int i = 0; i < 16; i += 2)
            end += snprintf(end, 6, i ? ":%02x%02x" : "%02x%02x", gid.raw[i], gid.raw[i + 1]);
    }
    char label[16];
    snprintf(label, sizeof(label), "GID[%3d]", index);
    print_field(kPort, label, "%s%s", address, !is_ethernet ? "" : is_roce_v2 ? ", RoCE v2" : ", RoCE v1");
}

// Prints the entries of a port's GID table that are in use. Returns 0, or the result of the call that failed.
int print_gids(ibv_context *context, uint8_t port_num, const ibv_port_attr &attr)
{
    for (int index = 0; index < attr.gid_tbl_len; ++index) {
        ibv_gid gid;
        if (int result = ibv_query_gid(context, port_num, index, &gid)) {
            fprintf(stderr, "Failed to query gid to port %u, index %d\n", port_num, index);
            return result;
        }
        if (!gid.global.interface_id)
            continue;
        // An entry that was removed meanwhile, or whose type cannot be told, is left out.
        ibv_gid_entry entry;
        if (ibv_query_gid_ex(context, port_num, static_cast<uint32_t>(index), &entry, 0))
            continue;
        print_gid(index, gid, entry.gid_type == IBV_GID_TYPE_ROCE_V2,
                  attr.link_layer == IBV_LINK_LAYER_ETHERNET);
    }
    return 0;
}

void print_port(uint8_t port_num, const ibv_port_attr &attr)
{
    printf("\t\tport:\t%u\n", port_num);
    print_named(kPort, "state", kPortStates, number_of(attr.state), "invalid state");
    print_named(kPort, "max_mtu", kMtus, number_of(attr.max_mtu), "invalid MTU");
    print_named(kPort, "active_mtu", kMtus, number_of(attr.active_mtu), "invalid MTU");
    print_field(kPort, "sm_lid", "%d", attr.sm_lid);
    print_field(kPort, "port_lid", "%d", attr.lid);
    print_field(kPort, "port_lmc", "0x%02x", attr.lmc);
    print_field(kPort, "link_layer", "%s", name_of(kLinkLayers, attr.link_layer, "Unknown"));
}

void print_port_details(const ibv_port_attr &attr, bool is_infiniband)
{
    print_field(kPort, "max_msg_sz", "0x%x", attr.max_msg_sz);
    print_field(kPort, "port_cap_flags", "0x%08x", attr.port_cap_flags);
    print_field(kPort, "port_cap_flags2", "0x%04x", attr.port_cap_flags2);
    print_named(kPort, "max_vl_num", kVirtualLanes, attr.max_vl_num, "invalid value");
    print_field(kPort, "bad_pkey_cntr", "0x%x", attr.bad_pkey_cntr);
    print_field(kPort, "qkey_viol_cntr", "0x%x", attr.qkey_viol_cntr);
    print_field(kPort, "sm_sl", "%d", attr.sm_sl);
    print_field(kPort, "pkey_tbl_len", "%d", attr.pkey_tbl_len);
    print_field(kPort, "gid_tbl_len", "%d", attr.gid_tbl_len);
    print_field(kPort, "subnet_timeout", "%d", attr.subnet_timeout);
    print_field(kPort, "init_type_reply", "%d", attr.init_type_reply);
    print_field(kPort, "active_width", "%sX (%d)", name_of(kWidths, attr.active_width, "invalid width"),
                attr.active_width);
    print_named(kPort, "active_speed", kSpeeds, attr.active_speed, "invalid speed");
    if (is_infiniband)
        print_named(kPort, "phys_state", kPhysicalStates, attr.phys_state, "invalid physical state");
}

}  // namespace

int show_port(ibv_context *context, uint8_t port_num, bool verbose)
{
    ibv_port_attr attr;
    if (int result = ibv_query_port(context, port_num, &attr)) {
        fprintf(stderr, "Failed to query port %u props\n", port_num);
        return result;
    }
    print_port(port_num, attr);
    if (verbose) {
        print_port_details(attr, number_of(context->device->transport_type) == IBV_TRANSPORT_IB);
        if (int result = print_gids(context, port_num, attr))
            return result;
    }
    putchar('\n');
    return 0;
}

}  // namespace tools
