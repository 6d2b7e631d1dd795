// SPDX-License-Identifier: BSD-2-Clause
// What a device is and can do, in ibv_devinfo's words.
#include <endian.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "devinfo.hh"
#include "text.hh"

namespace tools {
namespace {

constexpr Columns kDevice = {1, 5};

constexpr Name kTransports[] = {
    {IBV_TRANSPORT_IB, "InfiniBand"},
    {IBV_TRANSPORT_IWARP, "iWARP"},
    {IBV_TRANSPORT_USNIC, "usNIC"},
    {IBV_TRANSPORT_USNIC_UDP, "usNIC UDP"},
    {IBV_TRANSPORT_UNSPECIFIED, "unspecified"},
};

constexpr Name kAtomicCapabilities[] = {
    {IBV_ATOMIC_NONE, "ATOMIC_NONE"},
    {IBV_ATOMIC_HCA, "ATOMIC_HCA"},
    {IBV_ATOMIC_GLOB, "ATOMIC_GLOB"},
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

}  // namespace

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

void print_device_details(const ibv_context &context, const ibv_device_attr_ex &attr)
{
    print_limits(attr.orig_attr);
    print_extended_attributes(attr);
    print_field(kDevice, "num_comp_vectors", "%d", context.num_comp_vectors);
}

}  // namespace tools
