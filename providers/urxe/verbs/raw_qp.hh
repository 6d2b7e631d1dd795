// SPDX-License-Identifier: BSD-2-Clause
// Raw packet QPs: those that send and get Ethernet frames, and those that spread what they get over work queues.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "raw/frame.hh"
#include "raw/toeplitz.hh"
#include "verbs/qp.hh"

namespace urxe {

struct IndirectionTable;

/// How a QP spreads frames over work queues.
struct Spread {
    IndirectionTable *table;
    uint64_t fields;  ///< ibv_rx_hash_fields
    uint8_t key[raw::kHashKey];
};

/// Fields that can be hashed.
constexpr uint64_t kHashFields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_IPV6 |
                                 IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP |
                                 IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;

/// qp_create_ex for these.
ibv_qp *raw_qp_create(ibv_context *context, ibv_qp_init_attr_ex &attr);
/// Gives back what raw_qp_create() took, after the QP's end.
void raw_qp_release(Qp &qp);

/// Whose receives the frame is for: the QP's own, or those of a work queue. Under the lock of rules.
Qp &receiver_of(Qp &qp, const raw::Headers &headers);

}  // namespace urxe
