// SPDX-License-Identifier: BSD-2-Clause
// Commands for queue pairs.
#include "uverbs/qp.hh"

#include <cstring>

#include "base/enum_number.hh"
#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kCreate = {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE};

// Transport types travel as they are.
constexpr bool same(ibv_qp_type ours, ib_uverbs_qp_type kernel)
{
    return int{ours} == int{kernel};
}
static_assert(same(IBV_QPT_RC, IB_UVERBS_QPT_RC) && same(IBV_QPT_UC, IB_UVERBS_QPT_UC) &&
              same(IBV_QPT_UD, IB_UVERBS_QPT_UD) && same(IBV_QPT_RAW_PACKET, IB_UVERBS_QPT_RAW_PACKET) &&
              same(IBV_QPT_XRC_SEND, IB_UVERBS_QPT_XRC_INI) &&
              same(IBV_QPT_XRC_RECV, IB_UVERBS_QPT_XRC_TGT) && same(IBV_QPT_DRIVER, IB_UVERBS_QPT_DRIVER));

ib_uverbs_qp_cap to_kernel(const ibv_qp_cap &cap)
{
    return {.max_send_wr = cap.max_send_wr,
            .max_recv_wr = cap.max_recv_wr,
            .max_send_sge = cap.max_send_sge,
            .max_recv_sge = cap.max_recv_sge,
            .max_inline_data = cap.max_inline_data};
}

/// Takes the five capabilities from any kernel structure that has them under their usual names.
template <class Kernel>
ibv_qp_cap cap_from(const Kernel &kernel)
{
    return {.max_send_wr = kernel.max_send_wr,
            .max_recv_wr = kernel.max_recv_wr,
            .max_send_sge = kernel.max_send_sge,
            .max_recv_sge = kernel.max_recv_sge,
            .max_inline_data = kernel.max_inline_data};
}

Status create_by_ioctl(Channel &channel, const QpRequest &qp, const DriverData &driver,
                       ibv_command_buffer *more, QpInfo &info)
{
    ib_uverbs_qp_cap wanted = to_kernel(qp.cap);
    ib_uverbs_qp_cap granted = {};
    // That there is a source QPN is what its attribute says.
    uint32_t flags = (qp.create_flags & ~uint32_t{IBV_QP_CREATE_SOURCE_QPN}) |
                     (qp.signal_all ? uint32_t{IB_UVERBS_QP_CREATE_SQ_SIG_ALL} : 0);

    Attributes<17> attributes(kCreate);
    attributes.new_object(UVERBS_ATTR_CREATE_QP_HANDLE);
    auto add_object = [&](uint16_t id, std::optional<uint32_t> handle) {
        if (handle)
            attributes.object(id, *handle);
    };
    add_object(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, qp.xrcd_handle);
    add_object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, qp.pd_handle);
    add_object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, qp.send_cq_handle);
    add_object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, qp.recv_cq_handle);
    add_object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, qp.srq_handle);
    add_object(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, qp.ind_table_handle);
    attributes.constant(UVERBS_ATTR_CREATE_QP_TYPE, qp.type)
        .in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, qp.user_handle)
        .in(UVERBS_ATTR_CREATE_QP_CAP, wanted)
        .event_file(UVERBS_ATTR_CREATE_QP_EVENT_FD, qp.async_fd)
        .out(UVERBS_ATTR_CREATE_QP_RESP_CAP, granted)
        .out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, info.qp_num);
    if (flags != 0)
        attributes.in(UVERBS_ATTR_CREATE_QP_FLAGS, flags);
    if ((qp.create_flags & IBV_QP_CREATE_SOURCE_QPN) != 0)
        attributes.in(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, qp.source_qpn);
    Status status = attributes.driver(driver).issue(channel, more);
    if (!status)
        return status;
    info.handle = attributes.result();
    info.cap = cap_from(granted);
    return {};
}

/// Fills what the plain and the extended request share.
template <class Request>
void fill(Request &request, const QpRequest &qp)
{
    request.user_handle = qp.user_handle;
    request.pd_handle = qp.xrcd_handle ? *qp.xrcd_handle : qp.pd_handle.value_or(0);
    request.send_cq_handle = qp.send_cq_handle.value_or(0);
    request.recv_cq_handle = qp.recv_cq_handle.value_or(0);
    request.srq_handle = qp.srq_handle.value_or(0);
    request.max_send_wr = qp.cap.max_send_wr;
    request.max_recv_wr = qp.cap.max_recv_wr;
    request.max_send_sge = qp.cap.max_send_sge;
    request.max_recv_sge = qp.cap.max_recv_sge;
    request.max_inline_data = qp.cap.max_inline_data;
    request.sq_sig_all = qp.signal_all;
    request.qp_type = static_cast<uint8_t>(qp.type);
    request.is_srq = qp.srq_handle.has_value();
}

QpInfo info_from(const ib_uverbs_create_qp_resp &response)
{
    return {.handle = response.qp_handle, .qp_num = response.qpn, .cap = cap_from(response)};
}

[[gnu::noinline, gnu::cold]] Status create_by_write(Channel &channel, const QpRequest &qp,
                                                    const DriverData &driver, QpInfo &info)
{
    if (qp.create_flags == 0 && !qp.ind_table_handle) {
        ib_uverbs_create_qp request = {};
        fill(request, qp);
        ib_uverbs_create_qp_resp response = {};
        Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_QP, request, response, driver);
        info = info_from(response);
        return status;
    }
    ib_uverbs_ex_create_qp request = {};
    fill(request, qp);
    request.create_flags = qp.create_flags;
    request.source_qpn = qp.source_qpn;
    if (qp.ind_table_handle) {
        request.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
        request.rwq_ind_tbl_handle = *qp.ind_table_handle;
    }
    ib_uverbs_ex_create_qp_resp response = {};
    Status status = extended_command(channel, IB_USER_VERBS_EX_CMD_CREATE_QP, request, response, driver);
    info = info_from(response.base);
    return status;
}

void fill_destination(ib_uverbs_qp_dest &dest, const ibv_ah_attr &attr)
{
    std::memcpy(dest.dgid, attr.grh.dgid.raw, sizeof dest.dgid);
    dest.flow_label = attr.grh.flow_label;
    dest.dlid = attr.dlid;
    dest.sgid_index = attr.grh.sgid_index;
    dest.hop_limit = attr.grh.hop_limit;
    dest.traffic_class = attr.grh.traffic_class;
    dest.sl = attr.sl;
    dest.src_path_bits = attr.src_path_bits;
    dest.static_rate = attr.static_rate;
    dest.is_global = attr.is_global;
    dest.port_num = attr.port_num;
}

ibv_ah_attr destination_from(const ib_uverbs_qp_dest &dest)
{
    ibv_ah_attr attr = {};
    std::memcpy(attr.grh.dgid.raw, dest.dgid, sizeof dest.dgid);
    attr.grh.flow_label = dest.flow_label;
    attr.grh.sgid_index = dest.sgid_index;
    attr.grh.hop_limit = dest.hop_limit;
    attr.grh.traffic_class = dest.traffic_class;
    attr.dlid = dest.dlid;
    attr.sl = dest.sl;
    attr.src_path_bits = dest.src_path_bits;
    attr.static_rate = dest.static_rate;
    attr.is_global = dest.is_global;
    attr.port_num = dest.port_num;
    return attr;
}

void fill_modification(ib_uverbs_modify_qp &request, uint32_t handle, const ibv_qp_attr &attr, int attr_mask)
{
    auto mask = static_cast<uint32_t>(attr_mask);
    auto has = [mask](ibv_qp_attr_mask bit) { return (mask & bit) != 0; };

    // Only what the mask names is read: the rest of the program's structure may be uninitialised.
    request.qp_handle = handle;
    request.attr_mask = mask;
    if (has(IBV_QP_STATE))
        request.qp_state = static_cast<uint8_t>(enum_number(attr.qp_state));
    if (has(IBV_QP_CUR_STATE))
        request.cur_qp_state = static_cast<uint8_t>(enum_number(attr.cur_qp_state));
    if (has(IBV_QP_EN_SQD_ASYNC_NOTIFY))
        request.en_sqd_async_notify = attr.en_sqd_async_notify;
    if (has(IBV_QP_ACCESS_FLAGS))
        request.qp_access_flags = attr.qp_access_flags;
    if (has(IBV_QP_PKEY_INDEX))
        request.pkey_index = attr.pkey_index;
    if (has(IBV_QP_PORT))
        request.port_num = attr.port_num;
    if (has(IBV_QP_QKEY))
        request.qkey = attr.qkey;
    if (has(IBV_QP_AV))
        fill_destination(request.dest, attr.ah_attr);
    if (has(IBV_QP_PATH_MTU))
        request.path_mtu = static_cast<uint8_t>(enum_number(attr.path_mtu));
    if (has(IBV_QP_TIMEOUT))
        request.timeout = attr.timeout;
    if (has(IBV_QP_RETRY_CNT))
        request.retry_cnt = attr.retry_cnt;
    if (has(IBV_QP_RNR_RETRY))
        request.rnr_retry = attr.rnr_retry;
    if (has(IBV_QP_RQ_PSN))
        request.rq_psn = attr.rq_psn;
    if (has(IBV_QP_MAX_QP_RD_ATOMIC))
        request.max_rd_atomic = attr.max_rd_atomic;
    if (has(IBV_QP_ALT_PATH)) {
        fill_destination(request.alt_dest, attr.alt_ah_attr);
        request.alt_pkey_index = attr.alt_pkey_index;
        request.alt_port_num = attr.alt_port_num;
        request.alt_timeout = attr.alt_timeout;
    }
    if (has(IBV_QP_MIN_RNR_TIMER))
        request.min_rnr_timer = attr.min_rnr_timer;
    if (has(IBV_QP_SQ_PSN))
        request.sq_psn = attr.sq_psn;
    if (has(IBV_QP_MAX_DEST_RD_ATOMIC))
        request.max_dest_rd_atomic = attr.max_dest_rd_atomic;
    if (has(IBV_QP_PATH_MIG_STATE))
        request.path_mig_state = static_cast<uint8_t>(enum_number(attr.path_mig_state));
    if (has(IBV_QP_DEST_QPN))
        request.dest_qp_num = attr.dest_qp_num;
}

}  // namespace

Result<QpInfo> qp_create(Channel &channel, const QpRequest &qp, const DriverData &driver,
                         ibv_command_buffer *attributes)
{
    QpInfo info;
    Status status(EPROTONOSUPPORT);
    if (attributes != nullptr || channel.offers(kCreate))
        status = create_by_ioctl(channel, qp, driver, attributes, info);
    if (attributes == nullptr && !channel.offers(kCreate))
        status = create_by_write(channel, qp, driver, info);
    if (!status)
        return status;
    return info;
}

Result<QpInfo> qp_open(Channel &channel, uint32_t xrcd_handle, uint32_t qp_num, ibv_qp_type type,
                       uint64_t user_handle, const DriverData &driver)
{
    ib_uverbs_open_qp request = {};
    request.user_handle = user_handle;
    request.pd_handle = xrcd_handle;
    request.qpn = qp_num;
    request.qp_type = static_cast<uint8_t>(type);
    ib_uverbs_create_qp_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_OPEN_QP, request, response, driver);
    if (!status)
        return status;
    return QpInfo{.handle = response.qp_handle, .qp_num = response.qpn};
}

Status qp_modify(Channel &channel, uint32_t handle, const ibv_qp_attr &attr, int attr_mask,
                 const DriverData &driver)
{
    ib_uverbs_modify_qp request = {};
    fill_modification(request, handle, attr, attr_mask);
    return write_command(channel, IB_USER_VERBS_CMD_MODIFY_QP, request, driver);
}

Status qp_modify_ex(Channel &channel, uint32_t handle, const ibv_qp_attr &attr, int attr_mask,
                    ib_uverbs_ex_modify_qp_resp &response, const DriverData &driver)
{
    ib_uverbs_ex_modify_qp request = {};
    fill_modification(request.base, handle, attr, attr_mask);
    if ((attr_mask & IBV_QP_RATE_LIMIT) != 0)
        request.rate_limit = attr.rate_limit;
    response = {};
    return extended_command(channel, IB_USER_VERBS_EX_CMD_MODIFY_QP, request, response, driver);
}

Status qp_query(Channel &channel, uint32_t handle, int attr_mask, ibv_qp_attr &attr,
                ibv_qp_init_attr &init_attr, const DriverData &driver)
{
    ib_uverbs_query_qp request = {};
    request.qp_handle = handle;
    request.attr_mask = static_cast<uint32_t>(attr_mask);
    ib_uverbs_query_qp_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_QUERY_QP, request, response, driver);
    if (!status)
        return status;

    attr.qkey = response.qkey;
    attr.rq_psn = response.rq_psn;
    attr.sq_psn = response.sq_psn;
    attr.dest_qp_num = response.dest_qp_num;
    attr.qp_access_flags = response.qp_access_flags;
    attr.pkey_index = response.pkey_index;
    attr.alt_pkey_index = response.alt_pkey_index;
    attr.qp_state = static_cast<ibv_qp_state>(response.qp_state);
    attr.cur_qp_state = static_cast<ibv_qp_state>(response.cur_qp_state);
    attr.path_mtu = static_cast<ibv_mtu>(response.path_mtu);
    attr.path_mig_state = static_cast<ibv_mig_state>(response.path_mig_state);
    attr.sq_draining = response.sq_draining;
    attr.max_rd_atomic = response.max_rd_atomic;
    attr.max_dest_rd_atomic = response.max_dest_rd_atomic;
    attr.min_rnr_timer = response.min_rnr_timer;
    attr.port_num = response.port_num;
    attr.timeout = response.timeout;
    attr.retry_cnt = response.retry_cnt;
    attr.rnr_retry = response.rnr_retry;
    attr.alt_port_num = response.alt_port_num;
    attr.alt_timeout = response.alt_timeout;
    attr.cap = cap_from(response);
    attr.ah_attr = destination_from(response.dest);
    attr.alt_ah_attr = destination_from(response.alt_dest);
    init_attr.cap = attr.cap;
    init_attr.sq_sig_all = response.sq_sig_all;
    return {};
}

Status qp_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_qp_resp &response)
{
    ib_uverbs_destroy_qp request = {};
    request.qp_handle = handle;
    return object_destroy(channel, {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY},
                          UVERBS_ATTR_DESTROY_QP_HANDLE, handle, UVERBS_ATTR_DESTROY_QP_RESP,
                          IB_USER_VERBS_CMD_DESTROY_QP, request, response);
}

}  // namespace verbs::uverbs
