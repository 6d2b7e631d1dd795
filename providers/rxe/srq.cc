// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues: create, resize, destroy, post.
#include "srq.hh"

#include "common/extended.hh"
#include "common/memory.hh"
#include "context.hh"

namespace rxe {

ibv_srq *srq_create(ibv_pd *pd, ibv_srq_init_attr *attr)
{
    auto srq = member_allocate<Srq>(pd, Resource::kSrq);
    if (!srq)
        return nullptr;
    struct ibv_create_srq command {};
    common::Extended<ib_uverbs_create_srq_resp, rxe_create_srq_resp> response;
    int error = ibv_cmd_create_srq(pd, &srq->verbs.srq, attr, &command, sizeof(command), response.core(),
                                   response.size());
    if (error != 0)
        return common::null_with(error);
    error = srq->rq.ring.map(pd->context->cmd_fd, response.driver().mi);
    if (error != 0) {
        ibv_cmd_destroy_srq(&srq->verbs.srq);
        return common::null_with(error);
    }
    srq->verbs.srq_num = response.driver().srq_num;
    srq->rq.lock.init(srq->membership.single_threaded());
    srq->rq.max_sge = attr->attr.max_sge;
    return &srq.release()->verbs.srq;
}

int srq_modify(ibv_srq *ibsrq, ibv_srq_attr *attr, int attr_mask)
{
    Srq *srq = to_srq(ibsrq);
    mminfo info{};
    common::Extended<struct ibv_modify_srq, rxe_modify_srq_cmd> command;
    command.set_driver({.mmap_info_addr = reinterpret_cast<uintptr_t>(&info)});
    // A resize moves the requests to another ring: nobody may post to the old one meanwhile.
    common::Locked locked(srq->rq.lock);
    const int error = ibv_cmd_modify_srq(ibsrq, attr, attr_mask, command.core(), command.size());
    if (error != 0 || (attr_mask & IBV_SRQ_MAX_WR) == 0)
        return error;
    return resized("SRQ", *ibsrq->context, srq->rq.ring.remap(ibsrq->context->cmd_fd, info));
}

int srq_query(ibv_srq *srq, ibv_srq_attr *attr)
{
    struct ibv_query_srq command {};
    return ibv_cmd_query_srq(srq, attr, &command, sizeof(command));
}

int srq_destroy(ibv_srq *ibsrq)
{
    const int error = ibv_cmd_destroy_srq(ibsrq);
    if (error != 0)
        return error;
    Srq *srq = to_srq(ibsrq);
    srq->rq.ring.unmap();
    member_free(srq, Resource::kSrq, srq->membership);
    return 0;
}

int srq_post_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    return to_srq(srq)->rq.post(wr, bad_wr);
}

}  // namespace rxe
