// SPDX-License-Identifier: BSD-2-Clause
// For providers: queries of device and port.
#include <infiniband/driver.h>

#include <algorithm>
#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"
#include "uverbs/context.hh"

using verbs::provider::channel;

namespace {

void fill(ibv_device_attr &attr, const ib_uverbs_query_device_resp &kernel)
{
    attr.node_guid = kernel.node_guid;
    attr.sys_image_guid = kernel.sys_image_guid;
    attr.max_mr_size = kernel.max_mr_size;
    attr.page_size_cap = kernel.page_size_cap;
    attr.vendor_id = kernel.vendor_id;
    attr.vendor_part_id = kernel.vendor_part_id;
    attr.hw_ver = kernel.hw_ver;
    attr.max_qp = static_cast<int>(kernel.max_qp);
    attr.max_qp_wr = static_cast<int>(kernel.max_qp_wr);
    attr.device_cap_flags = kernel.device_cap_flags;
    attr.max_sge = static_cast<int>(kernel.max_sge);
    attr.max_sge_rd = static_cast<int>(kernel.max_sge_rd);
    attr.max_cq = static_cast<int>(kernel.max_cq);
    attr.max_cqe = static_cast<int>(kernel.max_cqe);
    attr.max_mr = static_cast<int>(kernel.max_mr);
    attr.max_pd = static_cast<int>(kernel.max_pd);
    attr.max_qp_rd_atom = static_cast<int>(kernel.max_qp_rd_atom);
    attr.max_ee_rd_atom = static_cast<int>(kernel.max_ee_rd_atom);
    attr.max_res_rd_atom = static_cast<int>(kernel.max_res_rd_atom);
    attr.max_qp_init_rd_atom = static_cast<int>(kernel.max_qp_init_rd_atom);
    attr.max_ee_init_rd_atom = static_cast<int>(kernel.max_ee_init_rd_atom);
    attr.atomic_cap = static_cast<ibv_atomic_cap>(kernel.atomic_cap);
    attr.max_ee = static_cast<int>(kernel.max_ee);
    attr.max_rdd = static_cast<int>(kernel.max_rdd);
    attr.max_mw = static_cast<int>(kernel.max_mw);
    attr.max_raw_ipv6_qp = static_cast<int>(kernel.max_raw_ipv6_qp);
    attr.max_raw_ethy_qp = static_cast<int>(kernel.max_raw_ethy_qp);
    attr.max_mcast_grp = static_cast<int>(kernel.max_mcast_grp);
    attr.max_mcast_qp_attach = static_cast<int>(kernel.max_mcast_qp_attach);
    attr.max_total_mcast_qp_attach = static_cast<int>(kernel.max_total_mcast_qp_attach);
    attr.max_ah = static_cast<int>(kernel.max_ah);
    attr.max_fmr = static_cast<int>(kernel.max_fmr);
    attr.max_map_per_fmr = static_cast<int>(kernel.max_map_per_fmr);
    attr.max_srq = static_cast<int>(kernel.max_srq);
    attr.max_srq_wr = static_cast<int>(kernel.max_srq_wr);
    attr.max_srq_sge = static_cast<int>(kernel.max_srq_sge);
    attr.max_pkeys = kernel.max_pkeys;
    attr.local_ca_ack_delay = kernel.local_ca_ack_delay;
    attr.phys_port_cnt = kernel.phys_port_cnt;
}

/// What older kernels do not fill is zero in the response.
void fill(ibv_device_attr_ex &attr, const ib_uverbs_ex_query_device_resp &kernel)
{
    fill(attr.orig_attr, kernel.base);
    attr.odp_caps.general_caps = kernel.odp_caps.general_caps;
    attr.odp_caps.per_transport_caps.rc_odp_caps = kernel.odp_caps.per_transport_caps.rc_odp_caps;
    attr.odp_caps.per_transport_caps.uc_odp_caps = kernel.odp_caps.per_transport_caps.uc_odp_caps;
    attr.odp_caps.per_transport_caps.ud_odp_caps = kernel.odp_caps.per_transport_caps.ud_odp_caps;
    attr.completion_timestamp_mask = kernel.timestamp_mask;
    attr.hca_core_clock = kernel.hca_core_clock;
    attr.device_cap_flags_ex = kernel.device_cap_flags_ex;
    attr.rss_caps.supported_qpts = kernel.rss_caps.supported_qpts;
    attr.rss_caps.max_rwq_indirection_tables = kernel.rss_caps.max_rwq_indirection_tables;
    attr.rss_caps.max_rwq_indirection_table_size = kernel.rss_caps.max_rwq_indirection_table_size;
    attr.max_wq_type_rq = kernel.max_wq_type_rq;
    attr.raw_packet_caps = kernel.raw_packet_caps;
    attr.tm_caps.max_rndv_hdr_size = kernel.tm_caps.max_rndv_hdr_size;
    attr.tm_caps.max_num_tags = kernel.tm_caps.max_num_tags;
    attr.tm_caps.flags = kernel.tm_caps.flags;
    attr.tm_caps.max_ops = kernel.tm_caps.max_ops;
    attr.tm_caps.max_sge = kernel.tm_caps.max_sge;
    attr.cq_mod_caps.max_cq_count = kernel.cq_moderation_caps.max_cq_moderation_count;
    attr.cq_mod_caps.max_cq_period = kernel.cq_moderation_caps.max_cq_moderation_period;
    attr.max_dm_size = kernel.max_dm_size;
    attr.xrc_odp_caps = kernel.xrc_odp_caps;
}

}  // namespace

VERBS_EXPORT int ibv_cmd_query_device_any(ibv_context *context, const ibv_query_device_ex_input *input,
                                          ibv_device_attr_ex *attr, size_t attr_size,
                                          ib_uverbs_ex_query_device_resp *resp, size_t *resp_size)
{
    if (input != nullptr && input->comp_mask != 0)
        return EINVAL;
    if (attr_size < sizeof attr->orig_attr)
        return EINVAL;

    size_t driver_size = resp != nullptr ? *resp_size : 0;
    ib_uverbs_ex_query_device_resp kernel = {};
    size_t known = 0;  // how much of `kernel` there is
    verbs::Status status = EOPNOTSUPP;
    if (attr_size > sizeof attr->orig_attr) {
        status = verbs::uverbs::device_query_ex(
            channel(context), kernel,
            verbs::provider_api::driver_data(static_cast<ib_uverbs_ex_query_device_resp *>(nullptr), 0, resp,
                                             driver_size));
        known = sizeof kernel;
    }
    // The basic part is what the plain query has, and all that kernels from before the extended one have.
    if (status.error() == EOPNOTSUPP || status.error() == ENOSYS || status.error() == EINVAL) {
        kernel = {};
        status = verbs::uverbs::device_query(channel(context), kernel.base);
        known = sizeof kernel.base;
        if (status && resp != nullptr)
            std::memset(resp, 0, driver_size);
    }
    if (!status)
        return status.error();
    if (resp != nullptr) {
        *resp_size = std::min(known, driver_size);
        std::memcpy(resp, &kernel, *resp_size);
    }

    if (attr_size == sizeof attr->orig_attr) {
        attr->orig_attr = {};
        fill(attr->orig_attr, kernel.base);
        return 0;
    }
    // A program of another release knows less of the structure, or more.
    ibv_device_attr_ex own;
    ibv_device_attr_ex &whole = attr_size >= sizeof own ? *attr : own;
    whole = {};
    fill(whole, kernel);
    // The answer to the plain query has no phys_port_cnt_ex; the count is the same.
    whole.phys_port_cnt_ex = kernel.base.phys_port_cnt;
    if (&whole == &own)
        std::memcpy(attr, &own, attr_size);
    else  // programs of later releases find zeros behind what is known here
        std::memset(attr + 1, 0, attr_size - sizeof whole);
    return 0;
}
VERBS_EXPORT_ALSO(ibv_cmd_query_device_any, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_query_context(ibv_context *context, ibv_command_buffer *driver)
{
    verbs::Result<verbs::uverbs::ContextDescription> description =
        verbs::uverbs::context_query(channel(context), driver);
    if (!description)
        return description.error();
    context->num_comp_vectors = static_cast<int>(description->num_comp_vectors);
    __atomic_store_n(&verbs_get_device(context->device)->core_support, description->core_support,
                     __ATOMIC_RELAXED);
    return 0;
}
VERBS_EXPORT_ALSO(ibv_cmd_query_context, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_query_port_speed(ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
    verbs::Result<uint64_t> speed = verbs::uverbs::port_speed_query(channel(context), port_num);
    if (!speed)
        return verbs::provider_api::newer_error(speed.status());
    *port_speed = *speed;
    return 0;
}

VERBS_EXPORT int ibv_cmd_query_port(ibv_context *context, uint8_t port_num, ibv_port_attr *port_attr,
                                    struct ibv_query_port *cmd, size_t cmd_size)
{
    ib_uverbs_query_port_resp_ex kernel;
    verbs::Status status = verbs::uverbs::port_query(channel(context), port_num, kernel,
                                                     verbs::provider_api::driver_data(cmd, cmd_size));
    if (!status)
        return status.error();
    const ib_uverbs_query_port_resp &port = kernel.legacy_resp;
    *port_attr = {};
    port_attr->state = static_cast<ibv_port_state>(port.state);
    port_attr->max_mtu = static_cast<ibv_mtu>(port.max_mtu);
    port_attr->active_mtu = static_cast<ibv_mtu>(port.active_mtu);
    port_attr->gid_tbl_len = static_cast<int>(port.gid_tbl_len);
    port_attr->port_cap_flags = port.port_cap_flags;
    port_attr->max_msg_sz = port.max_msg_sz;
    port_attr->bad_pkey_cntr = port.bad_pkey_cntr;
    port_attr->qkey_viol_cntr = port.qkey_viol_cntr;
    port_attr->pkey_tbl_len = port.pkey_tbl_len;
    port_attr->lid = port.lid;
    port_attr->sm_lid = port.sm_lid;
    port_attr->lmc = port.lmc;
    port_attr->max_vl_num = port.max_vl_num;
    port_attr->sm_sl = port.sm_sl;
    port_attr->subnet_timeout = port.subnet_timeout;
    port_attr->init_type_reply = port.init_type_reply;
    port_attr->active_width = port.active_width;
    port_attr->active_speed = port.active_speed;
    port_attr->phys_state = port.phys_state;
    port_attr->link_layer = port.link_layer;
    port_attr->flags = port.flags;
    port_attr->port_cap_flags2 = kernel.port_cap_flags2;
    port_attr->active_speed_ex = kernel.active_speed_ex;
    return 0;
}
