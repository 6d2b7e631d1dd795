// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <atomic>

#include "domain.hh"
#include "recv_queue.hh"
#include "send_queue.hh"

namespace rxe {

/// What tells the driver to look at a send queue: the library's post of nothing, prepared once and written without it.
struct Doorbell {
    alignas(8) char command[sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_post_send)];
    ib_uverbs_post_send_resp response;  // nobody reads it, so posts that overlap may share it
    bool is_refused;                    // the kernel takes no write commands: the library has to ring
};

struct Qp {
    verbs_qp verbs;
    SendQueue sq;
    Doorbell doorbell;
    RecvQueue rq;  // without a ring where the QP uses an SRQ
    Membership membership;
};

inline Qp *to_qp(ibv_qp *qp)
{
    return reinterpret_cast<Qp *>(qp);
}

inline Qp *to_qp(ibv_qp_ex *qp)
{
    return reinterpret_cast<Qp *>(qp);
}

ibv_qp *qp_create(ibv_pd *pd, ibv_qp_init_attr *attr);
ibv_qp *qp_create_ex(ibv_context *context, ibv_qp_init_attr_ex *attr);
int qp_modify(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask);
int qp_query(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr *init_attr);
int qp_destroy(ibv_qp *qp);
int qp_post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr);
int qp_post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad_wr);
int qp_bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind);

/// Whether the driver would look at the send queue. Before RTS it refuses, but keeps what lies in the ring.
inline bool qp_can_send(const Qp &qp)
{
    return qp.verbs.qp.state >= IBV_QPS_RTS;
}

/// Prepares the doorbell of a QP that the kernel made.
void qp_doorbell_init(Qp &qp);

/// The rest of qp_ring_doorbell, after a write that ended with `written`, or where no write is of use.
[[gnu::cold]] int qp_ring_doorbell_otherwise(Qp &qp, SendQueue::Batch batch, ssize_t written);

/// Tells the driver of WQEs in the send queue; 0 or an errno value. EINVAL: the QP is in no state to send,
/// contrary to what this process knows; the batch is not in the queue then. After other errors, such as those
/// of a device that is gone, it stays there: the driver may be looking at it.
inline int qp_ring_doorbell(Qp &qp, SendQueue::Batch batch)
{
    ssize_t written = 0;
    if (!std::atomic_ref(qp.doorbell.is_refused).load(std::memory_order_relaxed)) [[likely]] {
        written = write(qp.verbs.qp.context->cmd_fd, qp.doorbell.command, sizeof(qp.doorbell.command));
        if (written == sizeof(qp.doorbell.command)) [[likely]]
            return 0;
    }
    return qp_ring_doorbell_otherwise(qp, batch, written);
}

/// Sets the functions with which programs post through an extended QP.
void qp_ex_init(ibv_qp_ex &qp);

}  // namespace rxe
