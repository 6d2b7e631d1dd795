// SPDX-License-Identifier: BSD-2-Clause
// Completion queues.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>
#include <rdma/siw-abi.h>

#include "common/lock.hh"
#include "ring.hh"

namespace siw {

struct Cq {
    verbs_cq verbs;
    Ring<siw_cqe> ring;
    uint32_t head;  // where the next completion comes
    common::SpinLock lock;

    // Extended polling, between start_poll and end_poll.
    bool unlocked;           // the program promised IBV_CREATE_CQ_ATTR_SINGLE_THREADED
    const siw_cqe *current;  // what the read functions read; null before the first and after the last

    /// Gives the completion at `head` back to the driver.
    void retire()
    {
        ring.set_flags(head, 0);
        head = ring.next(head);
    }
};

inline Cq *to_cq(ibv_cq *cq)
{
    return reinterpret_cast<Cq *>(cq);
}

inline Cq *to_cq(ibv_cq_ex *cq)
{
    return reinterpret_cast<Cq *>(cq);
}

/// The values of verbs.h for those of the driver.
ibv_wc_status wc_status(const siw_cqe &cqe);
ibv_wc_opcode wc_opcode(const siw_cqe &cqe);
unsigned int wc_flags(const siw_cqe &cqe);

ibv_cq *cq_create(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector);
ibv_cq_ex *cq_create_ex(ibv_context *context, ibv_cq_init_attr_ex *attr);
int cq_destroy(ibv_cq *cq);
int cq_poll(ibv_cq *cq, int num_entries, ibv_wc *wc);
int cq_req_notify(ibv_cq *cq, int solicited_only);

/// Sets the functions with which programs poll an extended CQ.
void cq_ex_init(ibv_cq_ex &cq);

}  // namespace siw
