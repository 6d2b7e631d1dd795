// SPDX-License-Identifier: BSD-2-Clause
// ibv_devinfo: prints what RDMA devices and their ports are and can do.
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "text.hh"

using namespace tools;

namespace {

constexpr Columns kDevice = {1, 5};
constexpr Columns kPort = {3, 6};

// Exit statuses. Those of several devices are combined by or.
enum Outcome : int {
    kOpenFailed = 1,
    kQueryFailed = 2,
    kCloseFailed = 3,
    kNoSuchPort = 4,
};

constexpr Name kTransports[] = {
    {IBV_TRANSPORT_IB, "InfiniBand"},
    {IBV_TRANSPORT_IWARP, "iWARP"},
    {IBV_TRANSPORT_USNIC, "usNIC"},
    {IBV_TRANSPORT_USNIC_UDP, "usNIC UDP"},
    {IBV_TRANSPORT_UNSPECIFIED, "unspecified"},
};

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

constexpr Name kAtomicCapabilities[] = {
    {IBV_ATOMIC_NONE, "ATOMIC_NONE"},
    {IBV_ATOMIC_HCA, "ATOMIC_HCA"},
    {IBV_ATOMIC_GLOB, "ATOMIC_GLOB"},
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

constexpr Name kDeviceCapFlags[] = {
    {IBV_DEVICE_RESIZE_MAX_WR, "RESIZE_MAX_WR"},
    {IBV_DEVICE_BAD_PKEY_CNTR, "BAD_PKEY_CNTR"},
    {IBV_DEVICE_BAD_QKEY_CNTR, "BAD_QKEY_CNTR"},
    {IBV_DEVICE_RAW_MULTI, "RAW_MULTI"},
    {IBV_DEVICE_AUTO_PATH_MIG, "AUTO_PATH_MIG"},
    {IBV_DEVICE_CHANGE_PHY_PORT, "CHANGE_PHY_PORT"},
    {IBV_DEVICE_UD_AV_PORT_ENFORCE, "UD_AV_PORT_ENFORCE"},
    {IBV_DEVICE_CURR_QP_STATE_MOD, "CURR_QP_STATE_MOD"},
    {IBV_DEVICE_SHUTDOWN_PORT, "SHUTDOWN_PORT"},
    {IBV_DEVICE_INIT_TYPE, "INIT_TYPE"},
    {IBV_DEVICE_PORT_ACTIVE_EVENT, "PORT_ACTIVE_EVENT"},
    {IBV_DEVICE_SYS_IMAGE_GUID, "SYS_IMAGE_GUID"},
    {IBV_DEVICE_RC_RNR_NAK_GEN, "RC_RNR_NAK_GEN"},
    {IBV_DEVICE_SRQ_RESIZE, "SRQ_RESIZE"},
    {IBV_DEVICE_N_NOTIFY_CQ, "N_NOTIFY_CQ"},
    {IBV_DEVICE_MEM_WINDOW, "MEM_WINDOW"},
    {IBV_DEVICE_UD_IP_CSUM, "UD_IP_CSUM"},
    {IBV_DEVICE_XRC, "XRC"},
    {IBV_DEVICE_MEM_MGT_EXTENSIONS, "MEM_MGT_EXTENSIONS"},
    {IBV_DEVICE_MEM_WINDOW_TYPE_2A, "MEM_WINDOW_TYPE_2A"},
    {IBV_DEVICE_MEM_WINDOW_TYPE_2B, "MEM_WINDOW_TYPE_2B"},
    {IBV_DEVICE_RC_IP_CSUM, "RC_IP_CSUM"},
    {IBV_DEVICE_RAW_IP_CSUM, "RAW_IP_CSUM"},
    {IBV_DEVICE_MANAGED_FLOW_STEERING, "MANAGED_FLOW_STEERING"},
};

// The bits above those of device_cap_flags.
constexpr Name kDeviceCapFlagsEx[] = {
    {IBV_DEVICE_RAW_SCATTER_FCS, "RAW_SCATTER_FCS"},
    {IBV_DEVICE_PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING"},
};
constexpr uint64_t kExtendedOnly = 0xffffffff00000000;

constexpr Name kOdpGeneral[] = {
    {IBV_ODP_SUPPORT, "ODP_SUPPORT"},
    {IBV_ODP_SUPPORT_IMPLICIT, "ODP_SUPPORT_IMPLICIT"},
};

constexpr Name kOdpTransport[] = {
    {IBV_ODP_SUPPORT_SEND, "SUPPORT_SEND"},     {IBV_ODP_SUPPORT_RECV, "SUPPORT_RECV"},
    {IBV_ODP_SUPPORT_WRITE, "SUPPORT_WRITE"},   {IBV_ODP_SUPPORT_READ, "SUPPORT_READ"},
    {IBV_ODP_SUPPORT_ATOMIC, "SUPPORT_ATOMIC"}, {IBV_ODP_SUPPORT_SRQ_RECV, "SUPPORT_SRQ"},
};

constexpr Name kRawPacketCaps[] = {
    {IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, "C-VLAN stripping offload"},
    {IBV_RAW_PACKET_CAP_SCATTER_FCS, "Scatter FCS offload"},
    {IBV_RAW_PACKET_CAP_IP_CSUM, "IP csum offload"},
    {IBV_RAW_PACKET_CAP_DELAY_DROP, "Delay drop"},
};

// The queue pair types with offloads, as a mask of 1 << type.
constexpr Name kOffloadQpTypes[] = {
    {1U << IBV_QPT_RAW_PACKET, "SUPPORT_RAW_PACKET"},
    {1U << IBV_QPT_UD, "SUPPORT_UD"},
};

constexpr Name kTagMatchingFlags[] = {{IBV_TM_CAP_RC, "IBV_TM_CAP_RC"}};

struct Count {
    const char *label;
    int ibv_device_attr::*member;
};

constexpr Count kCountsBeforeAtomics[] = {
    {"max_sge", &ibv_device_attr::max_sge},
    {"max_sge_rd", &ibv_device_attr::max_sge_rd},
    {"max_cq", &ibv_device_attr::max_cq},
    {"max_cqe", &ibv_device_attr::max_cqe},
    {"max_mr", &ibv_device_attr::max_mr},
    {"max_pd", &ibv_device_attr::max_pd},
    {"max_qp_rd_atom", &ibv_device_attr::max_qp_rd_atom},
    {"max_ee_rd_atom", &ibv_device_attr::max_ee_rd_atom},
    {"max_res_rd_atom", &ibv_device_attr::max_res_rd_atom},
    {"max_qp_init_rd_atom", &ibv_device_attr::max_qp_init_rd_atom},
    {"max_ee_init_rd_atom", &ibv_device_attr::max_ee_init_rd_atom},
};

constexpr Count kCountsAfterAtomics[] = {
    {"max_ee", &ibv_device_attr::max_ee},
    {"max_rdd", &ibv_device_attr::max_rdd},
    {"max_mw", &ibv_device_attr::max_mw},
    {"max_raw_ipv6_qp", &ibv_device_attr::max_raw_ipv6_qp},
    {"max_raw_ethy_qp", &ibv_device_attr::max_raw_ethy_qp},
    {"max_mcast_grp", &ibv_device_attr::max_mcast_grp},
    {"max_mcast_qp_attach", &ibv_device_attr::max_mcast_qp_attach},
    {"max_total_mcast_qp_attach", &ibv_device_attr::max_total_mcast_qp_attach},
    {"max_ah", &ibv_device_attr::max_ah},
};

void print_counts(std::span<const Count> counts, const ibv_device_attr &attr)
{
    for (const Count &count : counts)
        print_field(kDevice, count.label, "%d", attr.*count.member);
}

void print_guid(const char *label, __be64 guid)
{
    uint64_t value = be64toh(guid);
    print_field(kDevice, label, "%04x:%04x:%04x:%04x", static_cast<unsigned>(value >> 48),
                static_cast<unsigned>(value >> 32 & 0xffff), static_cast<unsigned>(value >> 16 & 0xffff),
                static_cast<unsigned>(value & 0xffff));
}

// The board's name comes from sysfs; not every device has one.
void print_board_id(const ibv_device &device)
{
    char path[sizeof(device.ibdev_path) + sizeof("/board_id")];
    snprintf(path, sizeof(path), "%s/board_id", device.ibdev_path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    char text[256];
    ssize_t length = read(fd, text, sizeof(text));
    close(fd);
    if (length > 0 && text[length - 1] == '\n')
        --length;
    // A name that fills the buffer may have been cut off.
    if (length > 0 && static_cast<size_t>(length) < sizeof(text)) {
        text[length] = '\0';
        print_field(kDevice, "board_id", "%s", text);
    }
}

void print_flag_list(const char *label, std::span<const Name> names, uint64_t flags)
{
    printf("\t%s:\n", label);
    print_bits(names, flags);
    print_unknown_bits(unnamed_bits(names, flags));
}

void print_odp_transport(const char *label, uint32_t caps)
{
    print_flag_list(label, kOdpTransport, caps);
    if (!caps)
        printf("\t\t\t\t\tNO SUPPORT\n");
}

void print_odp_caps(const ibv_device_attr_ex &attr)
{
    const auto &transports = attr.odp_caps.per_transport_caps;
    print_flag_list("general_odp_caps", kOdpGeneral, attr.odp_caps.general_caps);
    print_odp_transport("rc_odp_caps", transports.rc_odp_caps);
    print_odp_transport("uc_odp_caps", transports.uc_odp_caps);
    print_odp_transport("ud_odp_caps", transports.ud_odp_caps);
    print_odp_transport("xrc_odp_caps", attr.xrc_odp_caps);
}

void print_offload_qp_types(uint32_t types)
{
    printf("\t\tsupported_qp:\n");
    print_bits(kOffloadQpTypes, types);
    print_unknown_bits(unnamed_bits(kOffloadQpTypes, types));
}

void print_raw_packet_caps(uint32_t caps)
{
    if (!caps)
        return;
    printf("\traw packet caps:\n");
    print_bits(kRawPacketCaps, caps);
}

void print_tso_caps(const ibv_tso_caps &caps)
{
    printf("\ttso_caps:\n");
    print_field({2, 6}, "max_tso", "%d", caps.max_tso);
    if (caps.max_tso)
        print_offload_qp_types(caps.supported_qpts);
}

void print_rss_caps(const ibv_rss_caps &caps)
{
    constexpr Columns kColumns = {2, 8};
    printf("\trss_caps:\n");
    print_field(kColumns, "max_rwq_indirection_tables", "%u", caps.max_rwq_indirection_tables);
    print_field(kColumns, "max_rwq_indirection_table_size", "%u", caps.max_rwq_indirection_table_size);
    print_field(kColumns, "rx_hash_function", "0x%x", caps.rx_hash_function);
    print_field(kColumns, "rx_hash_fields_mask", "0x%lX",
                static_cast<unsigned long>(caps.rx_hash_fields_mask));
    if (caps.supported_qpts)
        print_offload_qp_types(caps.supported_qpts);
}

void print_packet_pacing_caps(const ibv_packet_pacing_caps &caps)
{
    constexpr Columns kColumns = {2, 5};
    printf("\tpacket_pacing_caps:\n");
    print_field(kColumns, "qp_rate_limit_min", "%ukbps", caps.qp_rate_limit_min);
    print_field(kColumns, "qp_rate_limit_max", "%ukbps", caps.qp_rate_limit_max);
    if (caps.qp_rate_limit_max)
        print_offload_qp_types(caps.supported_qpts);
}

void print_tag_matching_caps(const ibv_tm_caps &caps)
{
    if (!caps.max_num_tags) {
        printf("\ttag matching not supported\n");
        return;
    }
    print_field(kDevice, "max_rndv_hdr_size", "%u", caps.max_rndv_hdr_size);
    print_field(kDevice, "max_num_tags", "%u", caps.max_num_tags);
    print_field(kDevice, "max_ops", "%u", caps.max_ops);
    print_field(kDevice, "max_sge", "%u", caps.max_sge);
    printf("\tflags:\n");
    print_bits(kTagMatchingFlags, caps.flags);
}

void print_cq_moderation_caps(const ibv_cq_moderation_caps &caps)
{
    constexpr Columns kColumns = {2, 4};
    if (!caps.max_cq_count || !caps.max_cq_period)
        return;
    printf("\n\tcq moderation caps:\n");
    print_field(kColumns, "max_cq_count", "%u", caps.max_cq_count);
    print_field(kColumns, "max_cq_period", "%u us\n", caps.max_cq_period);
}

void print_limits(const ibv_device_attr &attr)
{
    print_field(kDevice, "max_mr_size", "0x%llx", static_cast<unsigned long long>(attr.max_mr_size));
    print_field(kDevice, "page_size_cap", "0x%llx", static_cast<unsigned long long>(attr.page_size_cap));
    print_field(kDevice, "max_qp", "%d", attr.max_qp);
    print_field(kDevice, "max_qp_wr", "%d", attr.max_qp_wr);
    print_field(kDevice, "device_cap_flags", "0x%08x", attr.device_cap_flags);
    print_bits(kDeviceCapFlags, attr.device_cap_flags);
    print_unknown_bits(unnamed_bits(kDeviceCapFlags, attr.device_cap_flags));
    print_counts(kCountsBeforeAtomics, attr);
    print_named(kDevice, "atomic_cap", kAtomicCapabilities, number_of(attr.atomic_cap),
                "invalid atomic capability");
    print_counts(kCountsAfterAtomics, attr);
    print_field(kDevice, "max_fmr", "%d", attr.max_fmr);
    if (attr.max_fmr)
        print_field(kDevice, "max_map_per_fmr", "%d", attr.max_map_per_fmr);
    print_field(kDevice, "max_srq", "%d", attr.max_srq);
    if (attr.max_srq) {
        print_field(kDevice, "max_srq_wr", "%d", attr.max_srq_wr);
        print_field(kDevice, "max_srq_sge", "%d", attr.max_srq_sge);
    }
    print_field(kDevice, "max_pkeys", "%d", attr.max_pkeys);
    print_field(kDevice, "local_ca_ack_delay", "%d", attr.local_ca_ack_delay);
}

void print_extended_attributes(const ibv_device_attr_ex &attr)
{
    print_odp_caps(attr);
    if (attr.completion_timestamp_mask)
        print_field({1, 7}, "completion timestamp_mask", "0x%016lx",
                    static_cast<unsigned long>(attr.completion_timestamp_mask));
    else
        printf("\tcompletion_timestamp_mask not supported\n");
    if (attr.hca_core_clock)
        print_field(kDevice, "hca_core_clock", "%lukHZ", static_cast<unsigned long>(attr.hca_core_clock));
    else
        printf("\tcore clock not supported\n");
    print_raw_packet_caps(attr.raw_packet_caps);
    print_field(kDevice, "device_cap_flags_ex", "0x%lX",
                static_cast<unsigned long>(attr.device_cap_flags_ex));
    uint64_t flags = attr.device_cap_flags_ex & kExtendedOnly;
    print_bits(kDeviceCapFlagsEx, flags);
    print_unknown_bits(unnamed_bits(kDeviceCapFlagsEx, flags));
    print_tso_caps(attr.tso_caps);
    print_rss_caps(attr.rss_caps);
    print_field(kDevice, "max_wq_type_rq", "%u", attr.max_wq_type_rq);
    print_packet_pacing_caps(attr.packet_pacing_caps);
    print_tag_matching_caps(attr.tm_caps);
    print_cq_moderation_caps(attr.cq_mod_caps);
    if (attr.max_dm_size)
        print_field(kDevice, "maximum available device memory", "%luBytes\n",
                    static_cast<unsigned long>(attr.max_dm_size));
}

void print_device(const ibv_device &device, const ibv_device_attr &attr)
{
    printf("hca_id:\t%s\n", device.name);
    print_named(kDevice, "transport", kTransports, number_of(device.transport_type), "invalid transport");
    if (attr.fw_ver[0])
        print_field(kDevice, "fw_ver", "%s", attr.fw_ver);
    print_guid("node_guid", attr.node_guid);
    print_guid("sys_image_guid", attr.sys_image_guid);
    print_field(kDevice, "vendor_id", "0x%04x", attr.vendor_id);
    print_field(kDevice, "vendor_part_id", "%d", attr.vendor_part_id);
    print_field(kDevice, "hw_ver", "0x%X", attr.hw_ver);
    print_board_id(device);
    print_field(kDevice, "phys_port_cnt", "%d", attr.phys_port_cnt);
}

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

struct Options {
    const char *device_name;  // null: all devices
    uint8_t port_num;         // 0: all ports
    bool verbose;
};

// Prints the ports asked for. Returns 0, or the result of the call that failed.
int show_ports(ibv_context *context, unsigned port_count, const Options &options)
{
    unsigned first = options.port_num ? options.port_num : 1;
    unsigned last = options.port_num ? options.port_num : port_count;
    for (unsigned number = first; number <= last; ++number) {
        auto port_num = static_cast<uint8_t>(number);
        ibv_port_attr attr;
        if (int result = ibv_query_port(context, port_num, &attr)) {
            fprintf(stderr, "Failed to query port %u props\n", port_num);
            return result;
        }
        print_port(port_num, attr);
        if (options.verbose) {
            print_port_details(attr, number_of(context->device->transport_type) == IBV_TRANSPORT_IB);
            if (int result = print_gids(context, port_num, attr))
                return result;
        }
        putchar('\n');
    }
    return 0;
}

int show_open_device(ibv_context *context, const Options &options)
{
    ibv_device_attr_ex attr;
    if (ibv_query_device_ex(context, nullptr, &attr)) {
        fprintf(stderr, "Failed to query device props\n");
        return kQueryFailed;
    }
    unsigned port_count = attr.orig_attr.phys_port_cnt;
    if (options.port_num > port_count) {
        fprintf(stderr, "Invalid port requested for device\n");
        return kNoSuchPort;
    }
    print_device(*context->device, attr.orig_attr);
    if (options.verbose) {
        print_limits(attr.orig_attr);
        print_extended_attributes(attr);
        print_field(kDevice, "num_comp_vectors", "%d", context->num_comp_vectors);
    }
    return show_ports(context, port_count, options);
}

int show_device(ibv_device *device, const Options &options)
{
    ibv_context *context = ibv_open_device(device);
    if (!context) {
        fprintf(stderr, "Failed to open device\n");
        return kOpenFailed;
    }
    int outcome = show_open_device(context, options);
    if (ibv_close_device(context)) {
        fprintf(stderr, "Failed to close device");
        outcome = kCloseFailed;
    }
    return outcome;
}

ibv_device **get_devices(int *count)
{
    ibv_device **devices = ibv_get_device_list(count);
    if (!devices)
        perror("Failed to get IB devices list");
    return devices;
}

int list_devices()
{
    int count;
    ibv_device **devices = get_devices(&count);
    if (!devices)
        return -1;
    printf("%d HCA%s found:\n", count, count == 1 ? "" : "s");
    for (int i = 0; i < count; ++i)
        printf("\t%s\n", ibv_get_device_name(devices[i]));
    putchar('\n');
    ibv_free_device_list(devices);
    return 0;
}

int show_devices(ibv_device **devices, int count, const Options &options)
{
    int outcome = 0;
    for (int i = 0; i < count; ++i) {
        if (!options.device_name) {
            outcome |= show_device(devices[i], options);
        } else if (!strcmp(ibv_get_device_name(devices[i]), options.device_name)) {
            return show_device(devices[i], options);
        }
    }
    if (options.device_name) {
        fprintf(stderr, "IB device '%s' wasn't found\n", options.device_name);
        return -1;
    }
    if (!count) {
        fprintf(stderr, "No IB devices found\n");
        return -1;
    }
    return outcome;
}

void print_usage(const char *program)
{
    printf(
        "Usage: %s             print the ca attributes\n"
        "\n"
        "Options:\n"
        "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
        "  -i, --ib-port=<port>   use port <port> of IB device (default all ports)\n"
        "  -l, --list             print only the IB devices names\n"
        "  -v, --verbose          print all the attributes of the IB device(s)\n",
        program);
}

constexpr option kLongOptions[] = {
    {"ib-dev", required_argument, nullptr, 'd'},
    {"ib-port", required_argument, nullptr, 'i'},
    {"list", no_argument, nullptr, 'l'},
    {"verbose", no_argument, nullptr, 'v'},
    {},
};

}  // namespace

int main(int argc, char **argv)
{
    Options options = {};
    for (int letter; (letter = getopt_long(argc, argv, "d:i:lv", kLongOptions, nullptr)) != -1;) {
        switch (letter) {
            case 'd':
                options.device_name = optarg;
                break;
            case 'i': {
                auto number = static_cast<int>(strtol(optarg, nullptr, 0));
                if (number <= 0) {
                    print_usage(argv[0]);
                    return 1;
                }
                // Port numbers have eight bits; 256 means every port, as 0 does.
                options.port_num = static_cast<uint8_t>(number);
                break;
            }
            case 'l':
                // At once: what follows it does not matter.
                return list_devices();
            case 'v':
                options.verbose = true;
                break;
            default:
                print_usage(argv[0]);
                return -1;
        }
    }

    int count;
    ibv_device **devices = get_devices(&count);
    if (!devices)
        return -1;
    int outcome = show_devices(devices, count, options);
    ibv_free_device_list(devices);
    return outcome;
}
