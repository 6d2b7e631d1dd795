// SPDX-License-Identifier: BSD-2-Clause
// What a described device has where its description says nothing.
#include "defaults.hh"

#include <endian.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

namespace sim {
namespace {

constexpr uint8_t kNodeTypeRnic = 4;

/// The kernel knows an object only where the driver can make it.
void refuse_objects(Device &device, std::initializer_list<const char *> objects)
{
    for (const char *object : objects)
        device.refused.push_back({object, EPROTONOSUPPORT});
}

void set_rxe_defaults(Device &device)
{
    device.abi_version = 2;
    device.firmware = "";
    device.node_desc = "rxe";
    ib_uverbs_query_device_resp &base = device.attributes.base;
    base.fw_ver = 0;
    base.page_size_cap = 0xfffff000;
    base.vendor_id = 0xffffff;
    base.vendor_part_id = 0;
    base.hw_ver = 0;
    base.max_qp = 1048560;
    base.max_qp_wr = 1048576;
    base.device_cap_flags = 0x01223c76;
    base.max_sge = base.max_sge_rd = 32;
    base.max_cq = 1048576;
    base.max_cqe = 32767;
    base.max_mr = base.max_mw = 524287;
    base.max_pd = 1048576;
    base.max_qp_rd_atom = base.max_qp_init_rd_atom = 128;
    base.max_res_rd_atom = 258048;
    base.max_srq = 917503;
    base.max_srq_wr = 1048576;
    base.max_srq_sge = 27;
    base.max_mcast_grp = 8192;
    base.max_mcast_qp_attach = 56;
    base.max_total_mcast_qp_attach = 458752;
    base.max_ah = 32767;
    base.max_pkeys = 64;
    base.max_raw_ethy_qp = 0;
    device.attributes = {.base = base};
    device.refused = {{"MR/REREG"},
                      {"MR/ADVISE"},
                      {"CQ/POLL"},
                      {"FLOW/"},
                      {"WQ/"},
                      {"RWQ_IND_TBL/"},
                      {"MR/REG_DMABUF", EINVAL},
                      {"MR/REG_EX", EPROTONOSUPPORT}};
    refuse_objects(device, {"DM/", "COUNTERS/", "COMP_CNTR/", "FLOW_ACTION/", "DMAH/", "DMABUF/"});
}

void set_siw_defaults(Device &device)
{
    device.abi_version = 1;
    device.node_type = kNodeTypeRnic;
    device.firmware = "";
    device.node_desc = "Software iWARP stack";
    ib_uverbs_query_device_resp base = device.attributes.base;
    base.fw_ver = 0;
    base.device_cap_flags = IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS;
    base.max_sge = base.max_sge_rd = base.max_srq_sge = 6;
    base.max_mw = base.max_ah = base.max_pkeys = 0;
    base.max_mcast_grp = base.max_mcast_qp_attach = base.max_total_mcast_qp_attach = 0;
    base.max_raw_ethy_qp = 0;
    device.attributes = {.base = base};
    device.refused = {{"MR/REREG"}, {"MR/ADVISE"}, {"CQ/POLL"}, {"CQ/RESIZE"},   {"MW/"},
                      {"AH/"},      {"FLOW/"},     {"WQ/"},     {"RWQ_IND_TBL/"}};
    refuse_objects(device, {"DM/", "COUNTERS/", "COMP_CNTR/", "FLOW_ACTION/", "DMAH/", "DMABUF/"});
}

}  // namespace

void set_defaults(Device &device, std::string_view name)
{
    device.name = name;
    device.uverbs = device.node_number = device.index;
    device.node_guid = device.sys_image_guid = 0x0200000000000001 + (uint64_t{device.index} << 8);
    device.node_desc = "simulated";
    ib_uverbs_ex_query_device_resp &all = device.attributes;
    ib_uverbs_query_device_resp &base = all.base;
    base.fw_ver = 0x0001000200000003;
    base.max_mr_size = UINT64_MAX;
    base.page_size_cap = 0xfffffffffffff000;
    base.vendor_id = 0x5346;
    base.vendor_part_id = 1;
    base.hw_ver = 1;
    base.max_qp = 65536;
    base.max_qp_wr = 16384;
    base.device_cap_flags = 0x21b23c76;  // among others XRC, windows of both types, managed flow steering
    base.max_sge = base.max_sge_rd = 32;
    base.max_cq = 65536;
    base.max_cqe = 65535;
    base.max_mr = base.max_mw = 131072;
    base.max_pd = 32768;
    base.max_qp_rd_atom = base.max_qp_init_rd_atom = 16;
    base.max_res_rd_atom = 65536;
    base.atomic_cap = IBV_ATOMIC_HCA;
    base.max_raw_ethy_qp = 1024;
    base.max_mcast_grp = 4096;
    base.max_mcast_qp_attach = 64;
    base.max_total_mcast_qp_attach = 262144;
    base.max_ah = 65536;
    base.max_srq = 65536;
    base.max_srq_wr = 16384;
    base.max_srq_sge = 31;
    base.max_pkeys = 128;
    base.local_ca_ack_delay = 15;
    all.odp_caps.general_caps = IB_UVERBS_ODP_SUPPORT | IB_UVERBS_ODP_SUPPORT_IMPLICIT;
    all.odp_caps.per_transport_caps.rc_odp_caps = 0x1f;
    all.timestamp_mask = UINT64_MAX;
    all.hca_core_clock = 156250;
    all.rss_caps = {.supported_qpts = 1 << IB_UVERBS_QPT_RAW_PACKET,
                    .max_rwq_indirection_tables = 1024,
                    .max_rwq_indirection_table_size = 128,
                    .reserved = 0};
    all.max_wq_type_rq = 65536;
    all.raw_packet_caps = 0xf;
    all.tm_caps = {.max_rndv_hdr_size = 64,
                   .max_num_tags = 127,
                   .flags = 1,
                   .max_ops = 256,
                   .max_sge = 1,
                   .reserved = 0};
    all.cq_moderation_caps = {
        .max_cq_moderation_count = 65535, .max_cq_moderation_period = 4095, .reserved = 0};
    all.max_dm_size = 131072;
    all.xrc_odp_caps = 0x1f;
}

void set_defaults(Port &port, const Device &device)
{
    ib_uverbs_query_port_resp &base = port.attributes.legacy_resp;
    base.port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS;
    base.max_msg_sz = 0x40000000;
    base.gid_tbl_len = 16;
    base.state = IBV_PORT_ACTIVE;
    base.max_mtu = IBV_MTU_4096;
    base.active_mtu = IBV_MTU_1024;
    base.max_vl_num = 1;
    base.active_width = 2;  // 4x
    base.active_speed = 32;
    base.phys_state = 5;
    base.link_layer = IBV_LINK_LAYER_ETHERNET;
    if (device.driver_id == RDMA_DRIVER_RXE) {
        base.port_cap_flags = IB_UVERBS_PCF_CM_SUP;
        base.max_msg_sz = 0x800000;
        base.gid_tbl_len = 1024;
        base.active_width = base.active_speed = 1;
    } else if (device.driver_id == RDMA_DRIVER_SIW) {
        base.port_cap_flags = 0x00090000;
        base.max_msg_sz = UINT32_MAX;
        base.gid_tbl_len = 1;
        base.pkey_tbl_len = 0;
        port.pkeys.clear();
    }
}

void set_driver_defaults(Device &device)
{
    if (device.driver_id == RDMA_DRIVER_RXE)
        set_rxe_defaults(device);
    else if (device.driver_id == RDMA_DRIVER_SIW)
        set_siw_defaults(device);
}

ib_uverbs_gid_type default_gid_type(const Port &port)
{
    return port.attributes.legacy_resp.link_layer == IBV_LINK_LAYER_INFINIBAND ? IB_UVERBS_GID_TYPE_IB
                                                                               : IB_UVERBS_GID_TYPE_ROCE_V2;
}

void complete(Device &device)
{
    if (device.ports.empty())
        set_defaults(device.ports.emplace_back(), device);
    ib_uverbs_ex_query_device_resp &all = device.attributes;
    all.base.node_guid = htobe64(device.node_guid);
    all.base.sys_image_guid = htobe64(device.sys_image_guid);
    if (all.base.phys_port_cnt == 0)
        all.base.phys_port_cnt = static_cast<uint8_t>(device.ports.size());
    if (all.device_cap_flags_ex == 0)
        all.device_cap_flags_ex = all.base.device_cap_flags;
    all.response_length = sizeof all;
    if (device.pci_vendor != 0 && all.base.vendor_id == 0x5346) {
        all.base.vendor_id = device.pci_vendor;
        all.base.vendor_part_id = device.pci_device;
    }
    for (Port &port : device.ports) {
        ib_uverbs_query_port_resp &base = port.attributes.legacy_resp;
        if (port.gids.empty()) {
            // The link-local address that belongs to the GUID.
            Gid gid;
            gid.type = device.node_type == kNodeTypeRnic ? IB_UVERBS_GID_TYPE_IB : default_gid_type(port);
            gid.raw[0] = 0xfe;
            gid.raw[1] = 0x80;
            const uint64_t id =
                htobe64(device.node_guid + static_cast<uint64_t>(&port - device.ports.data()));
            std::copy_n(reinterpret_cast<const uint8_t *>(&id), sizeof id, gid.raw.begin() + 8);
            port.gids.push_back(gid);
        }
        for (const Gid &gid : port.gids)
            base.gid_tbl_len = std::max(base.gid_tbl_len, gid.index + 1);
        base.pkey_tbl_len = std::max(base.pkey_tbl_len, static_cast<uint16_t>(port.pkeys.size()));
        if (port.attributes.active_speed_ex == 0)
            port.attributes.active_speed_ex = base.active_speed;
        if (base.link_layer == IBV_LINK_LAYER_ETHERNET && device.node_type != kNodeTypeRnic)
            base.flags |= IB_UVERBS_QPF_GRH_REQUIRED;
        if (port.speed == 0)
            port.speed = 1000;
    }
}

}  // namespace sim
