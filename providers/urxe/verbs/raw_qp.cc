// SPDX-License-Identifier: BSD-2-Clause
// Creating raw packet QPs.
#include "verbs/raw_qp.hh"

#include <infiniband/driver.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "verbs/wq.hh"

namespace urxe {
namespace {

constexpr uint32_t kSpreads = IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;

/// 0, or the errno value with which a QP that spreads frames is refused. It has no queues of its own.
int check_spread(const ibv_context &context, const ibv_qp_init_attr_ex &attr)
{
    const ibv_rx_hash_conf &hash = attr.rx_hash_conf;
    if ((attr.comp_mask & ~(kSpreads | IBV_QP_INIT_ATTR_PD)) != 0 || attr.cap.max_send_wr != 0)
        return EOPNOTSUPP;
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || (attr.comp_mask & kSpreads) != kSpreads ||
        attr.rwq_ind_tbl == nullptr || attr.rwq_ind_tbl->context != &context || attr.srq != nullptr ||
        attr.cap.max_recv_wr != 0)
        return EINVAL;
    const uint64_t fields = hash.rx_hash_fields_mask;
    if (hash.rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ || (fields & ~kHashFields) != 0)
        return EOPNOTSUPP;
    constexpr uint64_t kIpv4 = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
    constexpr uint64_t kIpv6 = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6;
    constexpr uint64_t kTcp = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP;
    constexpr uint64_t kUdp = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
    const bool excludes_itself =
        ((fields & kIpv4) != 0 && (fields & kIpv6) != 0) || ((fields & kTcp) != 0 && (fields & kUdp) != 0);
    return excludes_itself || hash.rx_hash_key_len != raw::kHashKey || hash.rx_hash_key == nullptr ? EINVAL
                                                                                                   : 0;
}

}  // namespace

ibv_qp *raw_qp_create(ibv_context *context, ibv_qp_init_attr_ex &attr)
{
    common::Allocated<Spread> spread;
    if ((attr.comp_mask & kSpreads) != 0) {
        if (const int error = check_spread(*context, attr); error != 0)
            return common::null_with(error);
        attr.send_cq = attr.recv_cq = nullptr;
        attr.cap = {};
        spread = common::allocate<Spread>();
        if (!spread)
            return nullptr;
        spread->fields = attr.rx_hash_conf.rx_hash_fields_mask;
        std::copy_n(attr.rx_hash_conf.rx_hash_key, raw::kHashKey, spread->key);
        spread->table = &to_table(attr.rwq_ind_tbl);
    }
    Process &process = process_of(*context);
    raw::Tap *tap = process.taps.acquire(device_of(*context).interface);
    if (tap == nullptr)
        return nullptr;
    Qp *qp = qp_make(context, attr);
    if (qp == nullptr) {
        const int error = errno;
        process.taps.release(tap);
        return common::null_with(error);
    }
    qp->tap = tap;
    qp->spread = spread.release();
    if (qp->spread != nullptr)
        table_ref(*qp->spread->table);
    return &qp->verbs.qp;
}

void raw_qp_release(Qp &qp)
{
    if (qp.frames_lost != 0)
        __verbs_log(nullptr, VERBS_LOG_INFO, "urxe: raw QP %u had no receive for %" PRIu64 " frames",
                    qp.verbs.qp.qp_num, qp.frames_lost);
    if (qp.spread != nullptr)
        table_unref(*qp.spread->table);
    std::free(qp.spread);
    if (qp.tap != nullptr)
        qp.process->taps.release(qp.tap);
}

Qp &receiver_of(Qp &qp, const raw::Headers &headers)
{
    return qp.spread == nullptr
               ? qp
               : table_queue(*qp.spread->table, raw::frame_hash(qp.spread->key, qp.spread->fields, headers));
}

}  // namespace urxe
