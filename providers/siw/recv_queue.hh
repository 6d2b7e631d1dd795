// SPDX-License-Identifier: BSD-2-Clause
// Receive requests: the same queue for a QP of its own and for an SRQ.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/siw-abi.h>

#include "common/lock.hh"
#include "ring.hh"

namespace siw {

struct RecvQueue {
    Ring<siw_rqe> ring;
    common::SpinLock lock;
    uint32_t tail;  // where the next request goes
    uint32_t max_sge;

    /// Posts a list. On an error (ENOMEM: full, EINVAL: too many SGEs) those in front of *bad_wr are posted.
    int post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr);
};

}  // namespace siw
