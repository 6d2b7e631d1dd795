// SPDX-License-Identifier: BSD-2-Clause
// Work requests posted through the kernel, and multicast groups.
#include <infiniband/verbs.h>

#include "kernel/driver.hh"
#include "kernel/methods.hh"

namespace sim {
namespace {

#define POST_FIELDS(type, handle)                                                     \
    SIM_FIELD(type, response, Show::kHidden), SIM_FIELD(type, handle, Show::kHandle), \
        SIM_FIELD(type, wr_count), SIM_FIELD(type, sge_count), SIM_FIELD(type, wqe_size)

constexpr Field kSendRequest[] = {POST_FIELDS(ib_uverbs_post_send, qp_handle)};
constexpr Field kRecvRequest[] = {POST_FIELDS(ib_uverbs_post_recv, qp_handle)};
constexpr Field kSrqRecvRequest[] = {POST_FIELDS(ib_uverbs_post_srq_recv, srq_handle)};
constexpr Field kPostResponse[] = {SIM_FIELD(ib_uverbs_post_send_resp, bad_wr)};

/// Takes the requests and works on none of them. Those of rxe lie in its queue, and the list is empty.
int post(Call &call, uint16_t kind, uint32_t handle, uint64_t wrs, uint64_t sges, uint64_t wqe_size,
         uint64_t smallest)
{
    if (wqe_size < smallest)
        return EINVAL;
    // In the plain form all that follows the head stands as the driver's part.
    const uint64_t behind = call.core_in.size + call.driver_in.size - sizeof(ib_uverbs_post_send);
    if (behind < wrs * wqe_size + sges * sizeof(ib_uverbs_sge))
        return ENOSPC;
    const Object *queue = call.find(kind, handle);
    if (queue == nullptr)
        return call.error();
    ib_uverbs_post_send_resp response = {};
    const bool is_send = call.write_method->command == IB_USER_VERBS_CMD_POST_SEND;
    int error = 0;
    if (is_send && queue->state < IBV_QPS_RTS)
        error = EINVAL;
    if (!is_send && kind == UVERBS_OBJECT_QP && queue->state == IBV_QPS_RESET)
        error = EINVAL;
    if (error != 0 && wrs != 0)
        response.bad_wr = 1;
    call.respond(response);
    return error;
}

int post_send(Call &call)
{
    const auto request = call.request<ib_uverbs_post_send>();
    return post(call, UVERBS_OBJECT_QP, request.qp_handle, request.wr_count, request.sge_count,
                request.wqe_size, sizeof(ib_uverbs_send_wr));
}

int post_recv(Call &call)
{
    const auto request = call.request<ib_uverbs_post_recv>();
    return post(call, UVERBS_OBJECT_QP, request.qp_handle, request.wr_count, request.sge_count,
                request.wqe_size, sizeof(ib_uverbs_recv_wr));
}

int post_srq_recv(Call &call)
{
    const auto request = call.request<ib_uverbs_post_srq_recv>();
    return post(call, UVERBS_OBJECT_SRQ, request.srq_handle, request.wr_count, request.sge_count,
                request.wqe_size, sizeof(ib_uverbs_recv_wr));
}

constexpr Field kMcastRequest[] = {SIM_FIELD(ib_uverbs_attach_mcast, gid, Show::kBytes),
                                   SIM_FIELD(ib_uverbs_attach_mcast, qp_handle, Show::kHandle),
                                   SIM_FIELD(ib_uverbs_attach_mcast, mlid),
                                   SIM_FIELD(ib_uverbs_attach_mcast, reserved, Show::kReserved)};

/// Groups are not kept: whether a queue pair is in one only its data path would tell.
int mcast(Call &call)
{
    const auto request = call.request<ib_uverbs_attach_mcast>();
    const Object *qp = call.find(UVERBS_OBJECT_QP, request.qp_handle);
    if (qp == nullptr)
        return call.error();
    return qp->type == IB_UVERBS_QPT_UD && request.gid[0] == 0xff ? 0 : EINVAL;
}

constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_POST_SEND, "QP/POST_SEND", sizeof(ib_uverbs_post_send),
     sizeof(ib_uverbs_post_send_resp), kSendRequest, kPostResponse, post_send},
    {IB_USER_VERBS_CMD_POST_RECV, "QP/POST_RECV", sizeof(ib_uverbs_post_recv),
     sizeof(ib_uverbs_post_recv_resp), kRecvRequest, kPostResponse, post_recv},
    {IB_USER_VERBS_CMD_POST_SRQ_RECV, "SRQ/POST_RECV", sizeof(ib_uverbs_post_srq_recv),
     sizeof(ib_uverbs_post_srq_recv_resp), kSrqRecvRequest, kPostResponse, post_srq_recv},
    {IB_USER_VERBS_CMD_ATTACH_MCAST,
     "QP/ATTACH_MCAST",
     sizeof(ib_uverbs_attach_mcast),
     0,
     kMcastRequest,
     {},
     mcast,
     false},
    {IB_USER_VERBS_CMD_DETACH_MCAST,
     "QP/DETACH_MCAST",
     sizeof(ib_uverbs_detach_mcast),
     0,
     kMcastRequest,
     {},
     mcast,
     false},
};

}  // namespace

Methods post_methods()
{
    return {{}, kWrite};
}

}  // namespace sim
