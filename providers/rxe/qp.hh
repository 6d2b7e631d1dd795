// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include "domain.hh"
#include "recv_queue.hh"
#include "send_queue.hh"

namespace rxe {

struct Qp {
    verbs_qp verbs;
    SendQueue sq;
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
bool qp_can_send(const Qp &qp);

/// Tells the driver of WQEs in the send queue; 0 or an errno value. EINVAL: the QP is in no state to send,
/// contrary to what this process knows; the batch is not in the queue then. After other errors, such as those
/// of a device that is gone, it stays there: the driver may be looking at it.
int qp_ring_doorbell(Qp &qp, SendQueue::Batch batch);

/// Sets the functions with which programs post through an extended QP.
void qp_ex_init(ibv_qp_ex &qp);

}  // namespace rxe
