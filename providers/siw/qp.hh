// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include "recv_queue.hh"
#include "send_queue.hh"

namespace siw {

struct Qp {
    verbs_qp verbs;
    SendQueue sq;
    RecvQueue rq;  // without a ring where the QP uses an SRQ
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

/// Gives the batch in the send queue, if it has any element, to the driver. It refuses while there is no connection;
/// then nothing is posted. 0 or an errno value. Whoever calls holds the queue's lock.
int qp_submit(Qp &qp);

/// Sets the functions with which programs post through an extended QP.
void qp_ex_init(ibv_qp_ex &qp);

}  // namespace siw
