// SPDX-License-Identifier: BSD-2-Clause
// Opening a device, what it and its port tell, and the table of its ops.
#include "context.hh"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/memory.hh"
#include "direct/memory.hh"
#include "exports.hh"
#include "verbs/ah.hh"
#include "verbs/buf.hh"
#include "verbs/comp_cntr.hh"
#include "verbs/counters.hh"
#include "verbs/cq.hh"
#include "verbs/dm.hh"
#include "verbs/dmah.hh"
#include "verbs/flow.hh"
#include "verbs/mcast.hh"
#include "verbs/mr.hh"
#include "verbs/mw.hh"
#include "verbs/pd.hh"
#include "verbs/qp.hh"
#include "verbs/raw_qp.hh"
#include "verbs/srq.hh"
#include "verbs/wq.hh"
#include "verbs/xrcd.hh"

namespace urxe {
namespace {

/// Headers of a RoCEv2 packet, the longest that a payload of full size can have: IPv6, UDP, BTH, RETH, ImmDt, ICRC.
constexpr uint32_t kHeaders = 40 + 8 + 12 + 16 + 4 + 4;

/// The largest MTU of IBTA 9.5.2 whose packets the interface takes whole.
ibv_mtu mtu_for(uint32_t interface_mtu)
{
    ibv_mtu mtu = IBV_MTU_256;
    for (int next = IBV_MTU_512; next <= IBV_MTU_4096; ++next)
        if ((128U << next) + kHeaders <= interface_mtu)
            mtu = static_cast<ibv_mtu>(next);
    return mtu;
}

/// Width and speed codes of PortInfo (IBTA 14.2.5.6) whose product comes nearest from below.
struct Rate {
    uint32_t mbits;
    uint8_t width, speed;
};
constexpr Rate kRates[] = {
    {400000, 2, 64}, {200000, 2, 64}, {100000, 2, 32}, {50000, 1, 64}, {40000, 2, 8},
    {25000, 1, 32},  {20000, 4, 1},   {10000, 1, 8},   {0, 1, 1},
};

/// What the device can do with Ethernet frames.
void tell_of_raw_qps(ibv_device_attr_ex &attr)
{
    attr.orig_attr.device_cap_flags |= IBV_DEVICE_MANAGED_FLOW_STEERING | IBV_DEVICE_RAW_IP_CSUM;
    attr.orig_attr.max_raw_ethy_qp = attr.orig_attr.max_qp;
    attr.raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM;
    attr.max_wq_type_rq = static_cast<uint32_t>(attr.orig_attr.max_qp);
    attr.rss_caps = {.supported_qpts = 1U << IBV_QPT_RAW_PACKET,
                     .max_rwq_indirection_tables = static_cast<uint32_t>(attr.orig_attr.max_qp),
                     .max_rwq_indirection_table_size = 1U << kMaxLogTableSize,
                     .rx_hash_fields_mask = kHashFields,
                     .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ};
}

int query_device(ibv_context *context, const ibv_query_device_ex_input *input, ibv_device_attr_ex *attr,
                 size_t attr_size)
{
    if (input != nullptr && input->comp_mask != 0)
        return EINVAL;
    if (attr_size < sizeof attr->orig_attr)
        return EINVAL;
    ibv_device_attr_ex whole{};
    ibv_device_attr &basic = whole.orig_attr;
    std::snprintf(basic.fw_ver, sizeof basic.fw_ver, "%s", VERBENA_VERSION);
    basic.node_guid = ibv_get_device_guid(context->device);
    basic.sys_image_guid = basic.node_guid;
    basic.page_size_cap = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    basic.max_mr_size = UINT64_MAX;
    basic.max_qp = shared::QpTable::kCapacity - 1;
    basic.max_qp_wr = static_cast<int>(kMaxWr);
    basic.device_cap_flags = IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
                             IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_CURR_QP_STATE_MOD |
                             IBV_DEVICE_N_NOTIFY_CQ | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
                             IBV_DEVICE_XRC;
    basic.max_sge = basic.max_sge_rd = static_cast<int>(direct::kMaxSegments);
    basic.max_cq = shared::CqTable::kCapacity - 1;
    basic.max_cqe = kMaxCqe;
    basic.max_mr = basic.max_mw = shared::kFirstForeignMr - 1;
    basic.max_pd = shared::PdTable::kCapacity - 1;
    basic.max_qp_rd_atom = basic.max_qp_init_rd_atom = kMaxRdAtomic;
    basic.max_res_rd_atom = static_cast<int>(kMaxRdAtomic * shared::QpTable::kCapacity);
    basic.atomic_cap = IBV_ATOMIC_HCA;
    basic.max_ah = INT32_MAX;
    basic.max_mcast_grp = basic.max_mcast_qp_attach = basic.max_total_mcast_qp_attach =
        shared::GroupTable::kCapacity - 1;
    basic.max_srq = shared::SrqTable::kCapacity - 1;
    basic.max_srq_wr = static_cast<int>(kMaxWr);
    basic.max_srq_sge = static_cast<int>(direct::kMaxSegments);
    basic.max_pkeys = 1;
    basic.local_ca_ack_delay = 15;
    basic.phys_port_cnt = 1;
    whole.phys_port_cnt_ex = 1;
    constexpr uint32_t kUd = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
    constexpr uint32_t kUc = kUd | IBV_ODP_SUPPORT_WRITE;
    constexpr uint32_t kRc = kUc | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
                             IBV_ODP_SUPPORT_ATOMIC_WRITE | IBV_ODP_SUPPORT_FLUSH;
    whole.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
    whole.odp_caps.per_transport_caps = {.rc_odp_caps = kRc, .uc_odp_caps = kUc, .ud_odp_caps = kUd};
    whole.xrc_odp_caps = kRc;
    whole.completion_timestamp_mask = UINT64_MAX;
    whole.hca_core_clock = 1'000'000;  // kHz: timestamps are nanoseconds
    whole.cq_mod_caps = {.max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX};
    whole.max_dm_size = kMaxDm;
    whole.tm_caps = {.max_rndv_hdr_size = 4096,  // Nothing behind the headers is looked at.
                     .max_num_tags = kMaxTags,
                     .flags = IBV_TM_CAP_RC,
                     .max_ops = kMaxTagOps,
                     .max_sge = kMaxTagSegments};
    if (raw::is_offered(device_of(*context).interface))
        tell_of_raw_qps(whole);
    std::memset(attr, 0, attr_size);
    std::memcpy(attr, &whole, std::min(attr_size, sizeof whole));
    return 0;
}

int query_port(ibv_context *context, uint8_t port_num, ibv_port_attr *attr)
{
    if (port_num != 1)
        return EINVAL;
    Interface interface;
    const int error = interface_read(device_of(*context).interface, interface);
    if (error != 0 && error != ENODEV)
        return error;
    // One that is gone is all zeroes.
    const bool is_active = interface.is_up && interface.is_running;
    *attr = {};
    attr->state = is_active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    attr->phys_state = is_active ? 5 : 3;  // LinkUp, Disabled: IBTA 14.2.5.6
    attr->max_mtu = IBV_MTU_4096;
    attr->active_mtu = mtu_for(interface.mtu);
    attr->gid_tbl_len = kGidTableSize;
    attr->pkey_tbl_len = 1;
    attr->port_cap_flags = IBV_PORT_CM_SUP;
    attr->max_msg_sz = 1U << 31;
    attr->max_vl_num = 1;
    attr->link_layer = IBV_LINK_LAYER_ETHERNET;
    attr->flags = IBV_QPF_GRH_REQUIRED;
    for (const Rate &rate : kRates)
        if (interface.speed_mbits >= rate.mbits) {
            attr->active_width = rate.width;
            attr->active_speed = rate.speed;
            attr->active_speed_ex = rate.speed;
            break;
        }
    return 0;
}

int query_port_speed(ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
    if (port_num != 1)
        return EINVAL;
    Interface interface;
    if (int error = interface_read(device_of(*context).interface, interface); error != 0)
        return error;
    if (interface.speed_mbits < 100)
        return EOPNOTSUPP;  // Loopback has no speed.
    *port_speed = interface.speed_mbits / 100;
    return 0;
}

int query_rt_values(ibv_context *, ibv_values_ex *values)
{
    if ((values->comp_mask & ~uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0)
        return EOPNOTSUPP;
    if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
        const uint64_t now = now_ns();
        values->raw_clock = {.tv_sec = static_cast<time_t>(now / 1'000'000'000),
                             .tv_nsec = static_cast<long>(now % 1'000'000'000)};
    }
    return 0;
}

void context_free(ibv_context *context)
{
    Context *freed = to_context(context);
    freed->process->abandon(*context);
    freed->process->link.counters.log(context);
    freed->events.destroy();
    if (freed->exporter != nullptr)
        freed->process->release_peer(freed->exporter);
    freed->process->release();
    verbs_uninit_context(&freed->verbs);
    std::free(freed);
}

constexpr verbs_context_ops kContextOps = {
    .advise_mr = mr_advise,
    .alloc_buf = buf_alloc,
    .alloc_dm = dm_alloc,
    .alloc_dmah = dmah_alloc,
    .alloc_mw = mw_alloc,
    .alloc_null_mr = mr_alloc_null,
    .alloc_parent_domain = common::parent_domain_alloc,
    .alloc_pd = pd_alloc,
    .alloc_td = common::td_alloc,
    .attach_counters_point_flow = counters_attach_to_flow,
    .attach_mcast = mcast_attach,
    .bind_mw = mw_bind,
    .close_xrcd = xrcd_close,
    .create_ah = ah_create,
    .create_comp_cntr = comp_cntr_create,
    .create_counters = counters_create,
    .create_cq = cq_create,
    .create_cq_ex = cq_create_ex,
    .create_flow = flow_create,
    .create_qp = qp_create,
    .create_qp_ex = qp_create_ex,
    .create_rwq_ind_table = table_create,
    .create_srq = srq_create,
    .create_srq_ex = srq_create_ex,
    .create_wq = wq_create,
    .dealloc_dmah = dmah_dealloc,
    .dealloc_mw = mw_dealloc,
    .dealloc_pd = pd_dealloc,
    .dealloc_td = common::td_dealloc,
    .dereg_mr = mr_deregister,
    .destroy_ah = ah_destroy,
    .destroy_comp_cntr = comp_cntr_destroy,
    .destroy_counters = counters_destroy,
    .destroy_cq = cq_destroy,
    .destroy_flow = flow_destroy,
    .destroy_qp = qp_destroy,
    .destroy_rwq_ind_table = table_destroy,
    .destroy_srq = srq_destroy,
    .destroy_wq = wq_destroy,
    .detach_mcast = mcast_detach,
    .free_buf = buf_free,
    .free_context = context_free,
    .free_dm = dm_free,
    .get_srq_num = srq_get_num,
    .import_dm = dm_import,
    .import_mr = mr_import,
    .import_pd = pd_import,
    .inc_comp_cntr = comp_cntr_inc,
    .inc_err_comp_cntr = comp_cntr_inc_err,
    .modify_cq = cq_modify,
    .modify_qp = qp_modify,
    .modify_srq = srq_modify,
    .modify_wq = wq_modify,
    .open_qp = qp_open,
    .open_xrcd = xrcd_open,
    .poll_cq = cq_poll,
    .post_recv = qp_post_recv,
    .post_send = qp_post_send,
    .post_srq_ops = srq_post_ops,
    .post_srq_recv = srq_post_recv,
    .qp_attach_comp_cntr = comp_cntr_attach,
    .query_comp_cntr_caps = comp_cntr_query_caps,
    .query_device_ex = query_device,
    .query_port = query_port,
    .query_port_speed = query_port_speed,
    .query_qp = qp_query,
    .query_rt_values = query_rt_values,
    .query_srq = srq_query,
    .read_comp_cntr = comp_cntr_read,
    .read_counters = counters_read,
    .read_err_comp_cntr = comp_cntr_read_err,
    .reg_dm_mr = mr_register_dm,
    .reg_dmabuf_mr = mr_register_dmabuf,
    .reg_mr = mr_register,
    .reg_mr_ex = mr_register_ex,
    .req_notify_cq = cq_req_notify,
    .rereg_mr = mr_reregister,
    .resize_cq = cq_resize,
    .set_comp_cntr = comp_cntr_set,
    .set_err_comp_cntr = comp_cntr_set_err,
    .unimport_dm = dm_unimport,
    .unimport_mr = mr_unimport,
    .unimport_pd = pd_unimport,
};

/// A context whose number and exporter are still to be set; null with errno. Takes the file over.
Context *make_context(ibv_device *device, int cmd_fd, Process &process)
{
    static_assert(offsetof(Context, verbs) == 0);
    EventQueue events{};
    if (const int error = events.init(); error != 0) {
        close(cmd_fd);
        return common::null_with(error);
    }
    auto *context = static_cast<Context *>(
        _verbs_init_and_alloc_context(device, cmd_fd, sizeof(Context), nullptr, RDMA_DRIVER_UNKNOWN));
    if (context == nullptr) {
        const int error = errno;
        close(events.read_end());
        events.destroy();
        return common::null_with(error);
    }
    context->process = &process;
    context->events = events;
    context->port_events.event.element.port_num = 1;
    context->verbs.context.async_fd = events.read_end();
    context->verbs.context.num_comp_vectors = 1;
    context->number = process.last_context.fetch_add(1) + 1;
    verbs_set_ops(&context->verbs, &kContextOps);
    return context;
}

/// The process whose file it is, with a reference; null with errno.
Peer *find_exporter(Process &process, const Export &exported)
{
    Peer *exporter = process.find_peer(exported.slot);
    int error = errno;
    if (exporter != nullptr) {
        if (exporter->heap.header().instance == exported.instance)
            return exporter;
        process.release_peer(exporter);
    }
    if (exporter != nullptr || error == ESRCH)
        error = ESTALE;
    __verbs_log(nullptr, VERBS_LOG_WARN, "urxe: the process that opened the imported urxe_%s %s",
                exported.interface, error == ESTALE ? "is gone" : "cannot be reached");
    return common::null_with(error);
}

}  // namespace

verbs_context *context_alloc(ibv_device *device, int, void *)
{
    Process *process = Process::acquire();
    if (process == nullptr)
        return nullptr;
    Context *context = make_context(device, -1, *process);
    if (context != nullptr) {
        context->exporter = &process->self;
        context->exported_number = context->number;
        Export exported = {.magic = shared::kMagic,
                           .instance = process->header().instance,
                           .slot = process->self.slot,
                           .context = context->number,
                           .interface = {}};
        static_assert(sizeof exported.interface == sizeof(Device::interface));
        std::memcpy(exported.interface, device_of(context->verbs.context).interface,
                    sizeof exported.interface);
        context->verbs.context.cmd_fd = export_make(exported);
        if (context->verbs.context.cmd_fd >= 0)
            return &context->verbs;
    }
    const int error = errno;
    if (context != nullptr)
        context_free(&context->verbs.context);
    else
        process->release();
    return common::null_with(error);
}

verbs_context *context_import(ibv_device *device, int cmd_fd)
{
    Export exported;
    int error = export_read(cmd_fd, exported);
    const auto &imports = *reinterpret_cast<Device *>(verbs_get_device(device));
    if (error == 0 && std::strcmp(exported.interface, imports.interface) != 0)
        error = EINVAL;
    Process *process = error == 0 ? Process::acquire() : nullptr;
    if (process == nullptr) {
        error = error == 0 ? errno : error;
        close(cmd_fd);
        return common::null_with(error);
    }
    Context *context = make_context(device, cmd_fd, *process);
    Peer *exporter = context == nullptr ? nullptr : find_exporter(*process, exported);
    if (exporter != nullptr) {
        context->exporter = exporter;
        context->exported_number = exported.context;
        return &context->verbs;
    }
    error = errno;
    if (context != nullptr)
        context_free(&context->verbs.context);
    else
        process->release();
    return common::null_with(error);
}

}  // namespace urxe
