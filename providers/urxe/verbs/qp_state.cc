// SPDX-License-Identifier: BSD-2-Clause
// Which attributes each transition of a queue pair needs and permits.
#include "verbs/qp_state.hh"

#include <cerrno>
#include <cstdint>

namespace urxe {
namespace {

/// QP types, as bits.
enum Types : uint8_t { kRc = 1, kUc = 2, kUd = 4, kXrcSend = 8, kXrcRecv = 16, kRaw = 32 };
constexpr uint8_t kConnected = kRc | kUc | kXrcSend | kXrcRecv;
constexpr uint8_t kAcknowledged = kRc | kXrcSend;  ///< requesters that wait for acknowledgements
constexpr uint8_t kAnswering = kRc | kXrcRecv;     ///< responders that acknowledge

uint8_t bit_of(ibv_qp_type type)
{
    switch (type) {
        case IBV_QPT_RC:
            return kRc;
        case IBV_QPT_UC:
            return kUc;
        case IBV_QPT_UD:
            return kUd;
        case IBV_QPT_XRC_SEND:
            return kXrcSend;
        case IBV_QPT_XRC_RECV:
            return kXrcRecv;
        case IBV_QPT_RAW_PACKET:
            return kRaw;
        default:
            return 0;
    }
}

struct Rule {
    ibv_qp_state from, to;
    uint8_t types;
    int needs;
    int permits;
};

constexpr Rule kRules[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, kConnected, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_RESET, IBV_QPS_INIT, kUd, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    {IBV_QPS_RESET, IBV_QPS_INIT, kRaw, IBV_QP_PORT, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, kConnected, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_INIT, kUd, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    {IBV_QPS_INIT, IBV_QPS_INIT, kRaw, 0, IBV_QP_PORT},
    {IBV_QPS_INIT, IBV_QPS_RTR, kConnected, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_INIT, IBV_QPS_RTR, kAnswering, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, 0},
    // perftest gives both ends of XRC what only the other one needs, and adapters put up with that.
    {IBV_QPS_INIT, IBV_QPS_RTR, kXrcSend, 0, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_INIT, IBV_QPS_RTR, kUd, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_INIT, IBV_QPS_RTR, kRaw, 0, 0},
    {IBV_QPS_RTR, IBV_QPS_RTS, kConnected | kUd, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE},
    {IBV_QPS_RTR, IBV_QPS_RTS, kConnected, 0, IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTR, IBV_QPS_RTS, kAcknowledged,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, 0},
    {IBV_QPS_RTR, IBV_QPS_RTS, kXrcRecv, IBV_QP_TIMEOUT,
     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC},
    {IBV_QPS_RTR, IBV_QPS_RTS, kAnswering, 0, IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTR, IBV_QPS_RTS, kUd, 0, IBV_QP_QKEY},
    {IBV_QPS_RTR, IBV_QPS_RTS, kRaw, 0, IBV_QP_RATE_LIMIT},
    {IBV_QPS_RTS, IBV_QPS_RTS, kConnected, 0,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, kAnswering, 0, IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTS, IBV_QPS_RTS, kUd, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_RTS, IBV_QPS_RTS, kRaw, 0, IBV_QP_RATE_LIMIT},
    {IBV_QPS_RTS, IBV_QPS_SQD, kConnected | kUd | kRaw, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, kConnected, 0,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_SQD, IBV_QPS_RTS, kAnswering, 0, IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_SQD, IBV_QPS_RTS, kUd, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_SQD, IBV_QPS_RTS, kRaw, 0, IBV_QP_CUR_STATE | IBV_QP_RATE_LIMIT},
    {IBV_QPS_SQD, IBV_QPS_SQD, kConnected, 0,
     IBV_QP_PORT | IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
         IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_SQD, IBV_QPS_SQD, kAcknowledged, 0,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC},
    {IBV_QPS_SQD, IBV_QPS_SQD, kAnswering, 0, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_SQD, IBV_QPS_SQD, kXrcRecv, 0, IBV_QP_TIMEOUT},
    {IBV_QPS_SQD, IBV_QPS_SQD, kUd, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_SQE, IBV_QPS_RTS, kUc, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_SQE, IBV_QPS_RTS, kUd, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_SQE, IBV_QPS_RTS, kRaw, 0, IBV_QP_CUR_STATE | IBV_QP_RATE_LIMIT},
};

}  // namespace

int qp_check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask)
{
    const uint8_t bit = bit_of(type);
    mask &= ~IBV_QP_STATE;
    // From everywhere, with nothing else.
    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
        return bit != 0 && (mask & ~IBV_QP_CUR_STATE) == 0 ? 0 : EINVAL;
    bool is_there = false;
    int needs = 0, permits = 0;
    for (const Rule &rule : kRules)
        if (rule.from == from && rule.to == to && (rule.types & bit) != 0) {
            is_there = true;
            needs |= rule.needs;
            permits |= rule.needs | rule.permits;
        }
    return is_there && (mask & needs) == needs && (mask & ~permits) == 0 ? 0 : EINVAL;
}

}  // namespace urxe
