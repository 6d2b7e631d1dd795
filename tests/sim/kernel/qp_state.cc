// SPDX-License-Identifier: BSD-2-Clause
// Which changes of a queue pair's state and attributes are allowed.
#include "kernel/qp_state.hh"

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>

namespace sim {
namespace {

struct Masks {
    uint32_t required;
    uint32_t optional;
};

constexpr uint32_t kAlways = IBV_QP_STATE | IBV_QP_CUR_STATE;

bool is_datagram(uint32_t type)
{
    return type == IB_UVERBS_QPT_UD;
}

bool sends_requests(uint32_t type)
{
    return type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_XRC_INI;
}

bool answers_requests(uint32_t type)
{
    return type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_XRC_TGT;
}

Masks to_init(uint32_t type)
{
    if (type == IB_UVERBS_QPT_RAW_PACKET)
        return {IBV_QP_PORT, 0};
    return {IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                static_cast<uint32_t>(is_datagram(type) ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
            0};
}

Masks within_init(uint32_t type)
{
    const Masks first = to_init(type);
    return {0, first.required};
}

Masks to_rtr(uint32_t type)
{
    if (type == IB_UVERBS_QPT_RAW_PACKET)
        return {0, 0};
    if (is_datagram(type))
        return {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY};
    Masks masks = {IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
                   IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX};
    if (answers_requests(type))
        masks.required |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return masks;
}

Masks to_rts(uint32_t type)
{
    if (type == IB_UVERBS_QPT_RAW_PACKET)
        return {0, IBV_QP_RATE_LIMIT};
    if (is_datagram(type))
        return {IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY};
    Masks masks = {
        type == IB_UVERBS_QPT_XRC_TGT ? uint32_t{IBV_QP_TIMEOUT} | IBV_QP_SQ_PSN : uint32_t{IBV_QP_SQ_PSN},
        IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE | IBV_QP_RATE_LIMIT};
    if (sends_requests(type))
        masks.required |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    if (answers_requests(type))
        masks.optional |= IBV_QP_MIN_RNR_TIMER;
    return masks;
}

Masks within_rts(uint32_t type)
{
    if (type == IB_UVERBS_QPT_RAW_PACKET)
        return {0, IBV_QP_RATE_LIMIT};
    if (is_datagram(type))
        return {0, IBV_QP_QKEY};
    return {0, IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_RATE_LIMIT |
                   (answers_requests(type) ? uint32_t{IBV_QP_MIN_RNR_TIMER} : 0U)};
}

Masks within_sqd(uint32_t type)
{
    if (is_datagram(type))
        return {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY};
    uint32_t optional = IBV_QP_PORT | IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
                        IBV_QP_PATH_MIG_STATE;
    if (sends_requests(type))
        optional |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    if (answers_requests(type))
        optional |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return {0, optional};
}

bool find_masks(uint32_t type, uint32_t from, uint32_t to, Masks &masks)
{
    masks = {0, 0};
    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
        return true;
    if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
        masks = to_init(type);
    else if (from == IBV_QPS_INIT && to == IBV_QPS_INIT)
        masks = within_init(type);
    else if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
        masks = to_rtr(type);
    else if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
        masks = to_rts(type);
    else if (from == IBV_QPS_RTS && to == IBV_QPS_RTS)
        masks = within_rts(type);
    else if (from == IBV_QPS_RTS && to == IBV_QPS_SQD)
        masks = {0, IBV_QP_EN_SQD_ASYNC_NOTIFY};
    else if (from == IBV_QPS_SQD && to == IBV_QPS_RTS)
        masks = within_rts(type);
    else if (from == IBV_QPS_SQD && to == IBV_QPS_SQD)
        masks = within_sqd(type);
    else if (from == IBV_QPS_SQE && to == IBV_QPS_RTS)
        masks = is_datagram(type) ? Masks{0, IBV_QP_QKEY} : Masks{0, IBV_QP_ACCESS_FLAGS};
    else
        return false;
    return true;
}

}  // namespace

bool is_allowed_change(uint32_t type, uint32_t from, uint32_t to, uint32_t mask)
{
    Masks masks;
    if (to > IBV_QPS_ERR || !find_masks(type, from, to, masks))
        return false;
    return (masks.required & ~mask) == 0 && (mask & ~(masks.required | masks.optional | kAlways)) == 0;
}

}  // namespace sim
