// SPDX-License-Identifier: BSD-2-Clause
// Receive requests: the same queue for a QP of its own and for an SRQ.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "common/lock.hh"
#include "queue.hh"

namespace rxe {

struct RecvQueue {
    Queue<rxe_recv_wqe> ring;
    common::SpinLock lock;
    uint32_t max_sge;

    /// Posts a list. On an error (ENOMEM: full, EINVAL: too many SGEs) those in front of *bad_wr are posted.
    int post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr);
};

}  // namespace rxe
