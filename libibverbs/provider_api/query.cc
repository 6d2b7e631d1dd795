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

// From the node's GUID on both forms have the same fields at the same places.
#define SAME(field)                                                                               \
    static_assert(sizeof(ibv_device_attr::field) == sizeof(ib_uverbs_query_device_resp::field) && \
                  offsetof(ibv_device_attr, field) - offsetof(ibv_device_attr, node_guid) ==      \
                      offsetof(ib_uverbs_query_device_resp, field) -                              \
                          offsetof(ib_uverbs_query_device_resp, node_guid))
SAME(node_guid);
SAME(sys_image_guid);
SAME(max_mr_size);
SAME(page_size_cap);
SAME(vendor_id);
SAME(vendor_part_id);
SAME(hw_ver);
SAME(max_qp);
SAME(max_qp_wr);
SAME(device_cap_flags);
SAME(max_sge);
SAME(max_sge_rd);
SAME(max_cq);
SAME(max_cqe);
SAME(max_mr);
SAME(max_pd);
SAME(max_qp_rd_atom);
SAME(max_ee_rd_atom);
SAME(max_res_rd_atom);
SAME(max_qp_init_rd_atom);
SAME(max_ee_init_rd_atom);
SAME(atomic_cap);
SAME(max_ee);
SAME(max_rdd);
SAME(max_mw);
SAME(max_raw_ipv6_qp);
SAME(max_raw_ethy_qp);
SAME(max_mcast_grp);
SAME(max_mcast_qp_attach);
SAME(max_total_mcast_qp_attach);
SAME(max_ah);
SAME(max_fmr);
SAME(max_map_per_fmr);
SAME(max_srq);
SAME(max_srq_wr);
SAME(max_srq_sge);
SAME(max_pkeys);
SAME(local_ca_ack_delay);
SAME(phys_port_cnt);
#undef SAME
constexpr size_t kSameSize = sizeof(ibv_device_attr) - offsetof(ibv_device_attr, node_guid);
static_assert(kSameSize ==
              sizeof(ib_uverbs_query_device_resp) - offsetof(ib_uverbs_query_device_resp, node_guid));

/// Fills all but the firmware's version, which only the provider can read: it is empty.
void fill(ibv_device_attr &attr, const ib_uverbs_query_device_resp &kernel)
{
    std::memset(attr.fw_ver, 0, sizeof attr.fw_ver);
    std::memcpy(&attr.node_guid, &kernel.node_guid, kSameSize);
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
    // The kernel answers where the provider wants the answer, if there is room for all of it.
    ib_uverbs_ex_query_device_resp own;
    ib_uverbs_ex_query_device_resp &kernel = driver_size >= sizeof own ? *resp : own;
    size_t known = sizeof kernel;  // how much of `kernel` there is
    verbs::Status status = EOPNOTSUPP;
    if (attr_size > sizeof attr->orig_attr) {
        kernel = {};
        status = verbs::uverbs::device_query_ex(
            channel(context), kernel,
            verbs::provider_api::driver_data(static_cast<ib_uverbs_ex_query_device_resp *>(nullptr), 0, resp,
                                             driver_size));
    }
    // The basic part is what the plain query has, and all that kernels from before the extended one have.
    if (status.error() == EOPNOTSUPP || status.error() == ENOSYS || status.error() == EINVAL) {
        std::memset(static_cast<void *>(&kernel), 0, std::max(driver_size, sizeof kernel));
        status = verbs::uverbs::device_query(channel(context), kernel.base);
        known = sizeof kernel.base;
    }
    if (!status)
        return status.error();
    if (resp != nullptr) {
        *resp_size = std::min(known, driver_size);
        if (&kernel == &own)
            std::memcpy(resp, &own, driver_size);
    }

    if (attr_size == sizeof attr->orig_attr) {
        fill(attr->orig_attr, kernel.base);
        return 0;
    }
    // A program of another release knows less of the structure, or more, where it finds zeros.
    ibv_device_attr_ex less;
    ibv_device_attr_ex &whole = attr_size >= sizeof less ? *attr : less;
    std::memset(static_cast<void *>(&whole), 0, std::max(attr_size, sizeof whole));
    fill(whole, kernel);
    // The answer to the plain query has no phys_port_cnt_ex; the count is the same.
    whole.phys_port_cnt_ex = kernel.base.phys_port_cnt;
    if (&whole == &less)
        std::memcpy(attr, &less, attr_size);
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_query_device_any);

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
VERBS_EXPORT_SINCE_34(ibv_cmd_query_context);

VERBS_EXPORT int ibv_cmd_query_port_speed(ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
    verbs::Result<uint64_t> speed = verbs::uverbs::port_speed_query(channel(context), port_num);
    if (!speed)
        return verbs::provider_api::newer_error(speed.status());
    *port_speed = *speed;
    return 0;
}
VERBS_EXPORT_SINCE_59(ibv_cmd_query_port_speed);

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
VERBS_EXPORT_SINCE_57(ibv_cmd_query_port);
