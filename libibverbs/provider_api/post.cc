// SPDX-License-Identifier: BSD-2-Clause
// For providers: posting through the kernel.
#include "uverbs/post.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::channel;

VERBS_EXPORT int ibv_cmd_post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad_wr)
{
    return verbs::uverbs::post_send(channel(qp->context), qp->handle, qp->qp_type, wr, bad_wr).error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_post_send);

VERBS_EXPORT int ibv_cmd_post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    return verbs::uverbs::post_recv(channel(qp->context), qp->handle, wr, bad_wr).error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_post_recv);

VERBS_EXPORT int ibv_cmd_post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    return verbs::uverbs::post_srq_recv(channel(srq->context), srq->handle, wr, bad_wr).error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_post_srq_recv);
