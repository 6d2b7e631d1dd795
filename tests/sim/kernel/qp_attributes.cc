// SPDX-License-Identifier: BSD-2-Clause
// Attributes of queue pairs.
#include "kernel/qp_attributes.hh"

#include <infiniband/verbs.h>

#include "kernel/driver.hh"
#include "kernel/gid.hh"
#include "kernel/qp_state.hh"

namespace sim {
namespace {

constexpr uint32_t kStandardMask = (IBV_QP_DEST_QPN << 1) - 1;

constexpr Field kQueryRequest[] = {SIM_FIELD(ib_uverbs_query_qp, response, Show::kHidden),
                                   SIM_FIELD(ib_uverbs_query_qp, qp_handle, Show::kHandle),
                                   SIM_FIELD(ib_uverbs_query_qp, attr_mask)};
constexpr Field kQueryResponse[] = {
    {"attributes", 0, offsetof(ib_uverbs_query_qp_resp, driver_data), Show::kBytes}};

#define DEST(part)                                                                                        \
    SIM_FIELD(ib_uverbs_modify_qp, part.dgid, Show::kBytes),                                              \
        SIM_FIELD(ib_uverbs_modify_qp, part.flow_label), SIM_FIELD(ib_uverbs_modify_qp, part.dlid),       \
        SIM_FIELD(ib_uverbs_modify_qp, part.sgid_index), SIM_FIELD(ib_uverbs_modify_qp, part.hop_limit),  \
        SIM_FIELD(ib_uverbs_modify_qp, part.traffic_class), SIM_FIELD(ib_uverbs_modify_qp, part.sl),      \
        SIM_FIELD(ib_uverbs_modify_qp, part.src_path_bits),                                               \
        SIM_FIELD(ib_uverbs_modify_qp, part.static_rate), SIM_FIELD(ib_uverbs_modify_qp, part.is_global), \
        SIM_FIELD(ib_uverbs_modify_qp, part.port_num)

constexpr Field kModifyRequest[] = {
    SIM_FIELD(ib_uverbs_modify_qp, qp_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_modify_qp, attr_mask),
    DEST(dest),
    DEST(alt_dest),
    SIM_FIELD(ib_uverbs_modify_qp, qkey),
    SIM_FIELD(ib_uverbs_modify_qp, rq_psn),
    SIM_FIELD(ib_uverbs_modify_qp, sq_psn),
    SIM_FIELD(ib_uverbs_modify_qp, dest_qp_num),
    SIM_FIELD(ib_uverbs_modify_qp, qp_access_flags),
    SIM_FIELD(ib_uverbs_modify_qp, pkey_index),
    SIM_FIELD(ib_uverbs_modify_qp, alt_pkey_index),
    SIM_FIELD(ib_uverbs_modify_qp, qp_state),
    SIM_FIELD(ib_uverbs_modify_qp, cur_qp_state),
    SIM_FIELD(ib_uverbs_modify_qp, path_mtu),
    SIM_FIELD(ib_uverbs_modify_qp, path_mig_state),
    SIM_FIELD(ib_uverbs_modify_qp, en_sqd_async_notify),
    SIM_FIELD(ib_uverbs_modify_qp, max_rd_atomic),
    SIM_FIELD(ib_uverbs_modify_qp, max_dest_rd_atomic),
    SIM_FIELD(ib_uverbs_modify_qp, min_rnr_timer),
    SIM_FIELD(ib_uverbs_modify_qp, port_num),
    SIM_FIELD(ib_uverbs_modify_qp, timeout),
    SIM_FIELD(ib_uverbs_modify_qp, retry_cnt),
    SIM_FIELD(ib_uverbs_modify_qp, rnr_retry),
    SIM_FIELD(ib_uverbs_modify_qp, alt_port_num),
    SIM_FIELD(ib_uverbs_modify_qp, alt_timeout),
    SIM_FIELD(ib_uverbs_modify_qp, reserved, Show::kReserved),
    SIM_FIELD(ib_uverbs_ex_modify_qp, rate_limit),
};

bool is_port(Call &call, uint32_t number)
{
    return number >= 1 && number <= call.device().ports.size();
}

int check_ports(Call &call, const ib_uverbs_modify_qp &request)
{
    const uint32_t mask = request.attr_mask;
    if ((mask & IBV_QP_PORT) != 0 && !is_port(call, request.port_num))
        return EINVAL;
    if ((mask & IBV_QP_AV) != 0) {
        if (!is_port(call, request.dest.port_num))
            return EINVAL;
        const auto &port = call.device().ports[request.dest.port_num - 1u];
        if (request.dest.is_global != 0)
            if (const int error = check_gid_index(call, request.dest.port_num, request.dest.sgid_index))
                return error;
        if (request.dest.is_global == 0 &&
            (port.attributes.legacy_resp.flags & IB_UVERBS_QPF_GRH_REQUIRED) != 0)
            return EINVAL;
    }
    if ((mask & IBV_QP_ALT_PATH) != 0 &&
        (!is_port(call, request.alt_port_num) || !is_port(call, request.alt_dest.port_num)))
        return EINVAL;
    return 0;
}

/// Keeps those members that the mask names.
void set_attributes(ib_uverbs_modify_qp &kept, const ib_uverbs_modify_qp &given)
{
    const uint32_t mask = given.attr_mask;
    const auto keep = [mask](uint32_t bit, auto &member, const auto &value) {
        if ((mask & bit) != 0)
            member = value;
    };
    keep(IBV_QP_AV, kept.dest, given.dest);
    keep(IBV_QP_ALT_PATH, kept.alt_dest, given.alt_dest);
    keep(IBV_QP_ALT_PATH, kept.alt_pkey_index, given.alt_pkey_index);
    keep(IBV_QP_ALT_PATH, kept.alt_port_num, given.alt_port_num);
    keep(IBV_QP_ALT_PATH, kept.alt_timeout, given.alt_timeout);
    keep(IBV_QP_QKEY, kept.qkey, given.qkey);
    keep(IBV_QP_RQ_PSN, kept.rq_psn, given.rq_psn);
    keep(IBV_QP_SQ_PSN, kept.sq_psn, given.sq_psn);
    keep(IBV_QP_DEST_QPN, kept.dest_qp_num, given.dest_qp_num);
    keep(IBV_QP_ACCESS_FLAGS, kept.qp_access_flags, given.qp_access_flags);
    keep(IBV_QP_PKEY_INDEX, kept.pkey_index, given.pkey_index);
    keep(IBV_QP_PATH_MTU, kept.path_mtu, given.path_mtu);
    keep(IBV_QP_PATH_MIG_STATE, kept.path_mig_state, given.path_mig_state);
    keep(IBV_QP_MAX_QP_RD_ATOMIC, kept.max_rd_atomic, given.max_rd_atomic);
    keep(IBV_QP_MAX_DEST_RD_ATOMIC, kept.max_dest_rd_atomic, given.max_dest_rd_atomic);
    keep(IBV_QP_MIN_RNR_TIMER, kept.min_rnr_timer, given.min_rnr_timer);
    keep(IBV_QP_PORT, kept.port_num, given.port_num);
    keep(IBV_QP_TIMEOUT, kept.timeout, given.timeout);
    keep(IBV_QP_RETRY_CNT, kept.retry_cnt, given.retry_cnt);
    keep(IBV_QP_RNR_RETRY, kept.rnr_retry, given.rnr_retry);
}

int modify(Call &call, const ib_uverbs_modify_qp &request)
{
    Object *qp = call.find(UVERBS_OBJECT_QP, request.qp_handle);
    if (qp == nullptr)
        return call.error();
    if (const int error = check_ports(call, request))
        return error;
    if ((request.attr_mask & IBV_QP_CUR_STATE) != 0 && request.cur_qp_state > IBV_QPS_ERR)
        return EINVAL;
    const uint32_t from = (request.attr_mask & IBV_QP_CUR_STATE) != 0 ? request.cur_qp_state : qp->state;
    const uint32_t to = (request.attr_mask & IBV_QP_STATE) != 0 ? request.qp_state : from;
    if (from != qp->state || !is_allowed_change(qp->type, from, to, request.attr_mask))
        return EINVAL;
    if ((request.attr_mask & IBV_QP_PATH_MTU) != 0 &&
        (request.path_mtu < IBV_MTU_256 || request.path_mtu > IBV_MTU_4096))
        return EINVAL;
    if (to == IBV_QPS_RESET)
        qp->attributes = {};
    else
        set_attributes(qp->attributes, request);
    qp->state = to;
    driver_other(call);
    return 0;
}

ib_uverbs_query_qp_resp attributes_of(const Object &qp)
{
    const ib_uverbs_modify_qp &kept = qp.attributes;
    ib_uverbs_query_qp_resp response = {};
    response.dest = kept.dest;
    response.alt_dest = kept.alt_dest;
    memcpy(&response.max_send_wr, &qp.cap, sizeof qp.cap);
    response.qkey = kept.qkey;
    response.rq_psn = kept.rq_psn;
    response.sq_psn = kept.sq_psn;
    response.dest_qp_num = kept.dest_qp_num;
    response.qp_access_flags = kept.qp_access_flags;
    response.pkey_index = kept.pkey_index;
    response.alt_pkey_index = kept.alt_pkey_index;
    response.qp_state = static_cast<uint8_t>(qp.state);
    response.cur_qp_state = static_cast<uint8_t>(qp.state);
    response.path_mtu = kept.path_mtu;
    response.path_mig_state = kept.path_mig_state;
    response.max_rd_atomic = kept.max_rd_atomic;
    response.max_dest_rd_atomic = kept.max_dest_rd_atomic;
    response.min_rnr_timer = kept.min_rnr_timer;
    response.port_num = kept.port_num;
    response.timeout = kept.timeout;
    response.retry_cnt = kept.retry_cnt;
    response.rnr_retry = kept.rnr_retry;
    response.alt_port_num = kept.alt_port_num;
    response.alt_timeout = kept.alt_timeout;
    response.sq_sig_all = qp.sq_sig_all != 0;
    return response;
}

}  // namespace

std::span<const Field> query_qp_request()
{
    return kQueryRequest;
}

std::span<const Field> query_qp_response()
{
    return kQueryResponse;
}

std::span<const Field> modify_qp_request()
{
    return kModifyRequest;
}

int query_qp(Call &call)
{
    const Object *qp = call.find(UVERBS_OBJECT_QP, call.request<ib_uverbs_query_qp>().qp_handle);
    if (qp == nullptr)
        return call.error();
    const ib_uverbs_query_qp_resp response = attributes_of(*qp);
    call.respond_bytes(&response, offsetof(ib_uverbs_query_qp_resp, driver_data));
    return 0;
}

int modify_qp(Call &call)
{
    const auto request = call.request<ib_uverbs_modify_qp>();
    if ((request.attr_mask & ~kStandardMask) != 0)
        return EOPNOTSUPP;
    return modify(call, request);
}

int modify_qp_ex(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_modify_qp>();
    if ((request.base.attr_mask & ~(kStandardMask | IBV_QP_RATE_LIMIT)) != 0)
        return EOPNOTSUPP;
    const int error = modify(call, request.base);
    if (error == 0) {
        ib_uverbs_ex_modify_qp_resp response = {};
        response.response_length = static_cast<uint32_t>(
            call.core_out.size < sizeof response ? call.core_out.size : sizeof response);
        call.respond(response);
    }
    return error;
}

}  // namespace sim
