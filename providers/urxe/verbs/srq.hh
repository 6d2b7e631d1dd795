// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "common/domain.hh"
#include "process.hh"
#include "verbs/event.hh"
#include "verbs/receive_queue.hh"
#include "verbs/tag_queue.hh"

namespace urxe {

struct Srq {
    verbs_srq verbs;  // must be first
    common::Membership membership;
    Process *process;
    shared::SrqEntry *shared;
    uint32_t index;
    uint32_t users;  ///< QPs; under process->lock
    uint32_t xrcd;   ///< number of its domain; 0: it has none
    EventSource events;
    ReceiveQueue receives;
    TagQueue tags;  ///< of one that matches tags

    bool matches_tags() const { return verbs.srq_type == IBV_SRQT_TM; }
    /// Ends what was taken for a QP whose completions mean nothing any more.
    void drop_taken(uint32_t qp, uint32_t generation)
    {
        receives.drop_taken(qp, generation);
        if (matches_tags())
            tags.drop_taken(qp, generation);
    }
};

inline Srq &to_srq(ibv_srq *srq)
{
    return *reinterpret_cast<Srq *>(srq);
}

ibv_srq *srq_create(ibv_pd *pd, ibv_srq_init_attr *attr);
ibv_srq *srq_create_ex(ibv_context *context, ibv_srq_init_attr_ex *attr);
int srq_get_num(ibv_srq *srq, uint32_t *number);
int srq_modify(ibv_srq *srq, ibv_srq_attr *attr, int mask);
int srq_query(ibv_srq *srq, ibv_srq_attr *attr);
int srq_destroy(ibv_srq *srq);
int srq_post_ops(ibv_srq *srq, ibv_ops_wr *list, ibv_ops_wr **bad);
int srq_post_recv(ibv_srq *srq, ibv_recv_wr *list, ibv_recv_wr **bad);

/// Does what Attention asks for. Under process->lock.
void srq_attend(Srq &srq);

/// In the child of a fork.
void srq_become_inherited(Srq &srq);

}  // namespace urxe
