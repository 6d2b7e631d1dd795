// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#pragma once

#include <infiniband/driver.h>

#include "domain.hh"
#include "recv_queue.hh"

namespace rxe {

struct Srq {
    verbs_srq verbs;
    RecvQueue rq;
    Membership membership;
};

inline Srq *to_srq(ibv_srq *srq)
{
    return reinterpret_cast<Srq *>(srq);
}

ibv_srq *srq_create(ibv_pd *pd, ibv_srq_init_attr *attr);
int srq_modify(ibv_srq *srq, ibv_srq_attr *attr, int attr_mask);
int srq_query(ibv_srq *srq, ibv_srq_attr *attr);
int srq_destroy(ibv_srq *srq);
int srq_post_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr);

}  // namespace rxe
