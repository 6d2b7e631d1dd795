// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#include <infiniband/verbs.h>

#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/event.hh"
#include "kernel/keys.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"

namespace sim {
namespace {

struct Wanted {
    uint64_t user_handle = 0;
    uint32_t pd = kNone;
    uint32_t xrcd = kNone;
    uint32_t cq = kNone;
    uint32_t max_wr = 0;
    uint32_t max_sge = 0;
    uint32_t limit = 0;
    uint32_t max_tags = 0;
    uint64_t type = IB_UVERBS_SRQT_BASIC;
    int event_fd = -1;
};

int make_srq(Call &call, const Wanted &wanted, uint32_t &handle, Object *&srq, ib_uverbs_qp_cap &answer)
{
    const ib_uverbs_ex_query_device_resp &device = call.device().attributes;
    if (call.find(UVERBS_OBJECT_PD, wanted.pd) == nullptr ||
        (wanted.xrcd != kNone && call.find(UVERBS_OBJECT_XRCD, wanted.xrcd) == nullptr) ||
        (wanted.cq != kNone && call.find(UVERBS_OBJECT_CQ, wanted.cq) == nullptr))
        return call.error();
    const bool is_xrc = wanted.type == IB_UVERBS_SRQT_XRC;
    if (wanted.type > IB_UVERBS_SRQT_TM ||
        (is_xrc && (device.base.device_cap_flags & IB_UVERBS_DEVICE_XRC) == 0) ||
        (wanted.type == IB_UVERBS_SRQT_TM && device.tm_caps.max_num_tags == 0))
        return EOPNOTSUPP;
    if (wanted.type == IB_UVERBS_SRQT_TM && wanted.max_tags > device.tm_caps.max_num_tags)
        return EINVAL;
    if (wanted.max_wr == 0 || wanted.max_wr > device.base.max_srq_wr ||
        wanted.max_sge > device.base.max_srq_sge)
        return EINVAL;
    srq = call.file().add(UVERBS_OBJECT_SRQ, handle);
    if (srq == nullptr)
        return ENOMEM;
    call.file().hold(*srq, kPdPlace, wanted.pd);
    call.file().hold(*srq, kXrcdPlace, wanted.xrcd);
    call.file().hold(*srq, kCqPlace, wanted.cq);
    srq->user_handle = wanted.user_handle;
    srq->type = static_cast<uint32_t>(wanted.type);
    srq->cap.max_recv_wr = wanted.max_wr;
    srq->cap.max_recv_sge = wanted.max_sge;
    srq->limit = wanted.limit;
    srq->async_channel = wanted.event_fd >= 0 ? channel_of(wanted.event_fd) : call.state().default_async;
    srq->number = next_srqn(call);
    const int error = driver_srq(call, *srq, answer);
    if (error != 0)
        call.file().discard(*srq);
    return error;
}

constexpr Attribute kCreate[] = {
    {UVERBS_ATTR_CREATE_SRQ_HANDLE, "srq_handle", Kind::kNew, UVERBS_OBJECT_SRQ},
    {UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, "user_handle", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_CREATE_SRQ_TYPE, "srq_type", Kind::kConst},
    {UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD},
    {UVERBS_ATTR_CREATE_SRQ_MAX_WR, "max_wr", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_SRQ_MAX_SGE, "max_sge", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_SRQ_LIMIT, "srq_limit", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, "max_num_tags", Kind::kIn, 0, 4, 4, false},
    {UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, "xrcd_handle", Kind::kObject, UVERBS_OBJECT_XRCD, 0, 0, false},
    {UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, "cq_handle", Kind::kObject, UVERBS_OBJECT_CQ, 0, 0, false},
    {UVERBS_ATTR_CREATE_SRQ_EVENT_FD, "event_fd", Kind::kFd, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, "max_wr", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, "max_sge", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, "srqn", Kind::kOut, 0, 4, 4, false},
};

int create_srq(Call &call)
{
    const uint64_t type = call.constant(UVERBS_ATTR_CREATE_SRQ_TYPE);
    const bool has_cq = call.has(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
    if (type > IB_UVERBS_SRQT_TM || (type == IB_UVERBS_SRQT_BASIC) == has_cq ||
        (type == IB_UVERBS_SRQT_XRC) != call.has(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE) ||
        (type == IB_UVERBS_SRQT_TM && !call.has(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS)))
        return EINVAL;
    uint32_t handle = 0;
    Object *srq = nullptr;
    ib_uverbs_qp_cap cap{};
    const int error = make_srq(call,
                               {.user_handle = call.in<uint64_t>(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE),
                                .pd = call.handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE),
                                .xrcd = call.handle(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE),
                                .cq = call.handle(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE),
                                .max_wr = call.in<uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_WR),
                                .max_sge = call.in<uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_SGE),
                                .limit = call.in<uint32_t>(UVERBS_ATTR_CREATE_SRQ_LIMIT),
                                .max_tags = call.in<uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS),
                                .type = type,
                                .event_fd = call.descriptor(UVERBS_ATTR_CREATE_SRQ_EVENT_FD)},
                               handle, srq, cap);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_CREATE_SRQ_HANDLE, handle);
    call.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, cap.max_recv_wr);
    call.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, cap.max_recv_sge);
    call.out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, srq->number);
    return 0;
}

constexpr Field kCreateRequest[] = {
    SIM_FIELD(ib_uverbs_create_srq, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_create_srq, user_handle),
    SIM_FIELD(ib_uverbs_create_srq, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_srq, max_wr),
    SIM_FIELD(ib_uverbs_create_srq, max_sge),
    SIM_FIELD(ib_uverbs_create_srq, srq_limit),
};
constexpr Field kCreateXRequest[] = {
    SIM_FIELD(ib_uverbs_create_xsrq, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_create_xsrq, user_handle),
    SIM_FIELD(ib_uverbs_create_xsrq, srq_type),
    SIM_FIELD(ib_uverbs_create_xsrq, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_xsrq, max_wr),
    SIM_FIELD(ib_uverbs_create_xsrq, max_sge),
    SIM_FIELD(ib_uverbs_create_xsrq, srq_limit),
    SIM_FIELD(ib_uverbs_create_xsrq, max_num_tags),
    SIM_FIELD(ib_uverbs_create_xsrq, xrcd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_xsrq, cq_handle, Show::kHandle),
};
constexpr Field kCreateResponse[] = {
    SIM_FIELD(ib_uverbs_create_srq_resp, srq_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_srq_resp, max_wr),
    SIM_FIELD(ib_uverbs_create_srq_resp, max_sge),
    SIM_FIELD(ib_uverbs_create_srq_resp, srqn),
};

int create_and_respond(Call &call, const Wanted &wanted)
{
    uint32_t handle = 0;
    Object *srq = nullptr;
    ib_uverbs_qp_cap cap{};
    if (const int error = make_srq(call, wanted, handle, srq, cap))
        return error;
    ib_uverbs_create_srq_resp response = {};
    response.srq_handle = handle;
    response.max_wr = cap.max_recv_wr;
    response.max_sge = cap.max_recv_sge;
    // The kernel tells the number of XRC queues only.
    response.srqn = srq->type == IB_UVERBS_SRQT_XRC ? srq->number : 0;
    call.respond(response);
    return 0;
}

int create_srq_write(Call &call)
{
    const auto request = call.request<ib_uverbs_create_srq>();
    return create_and_respond(call, {.user_handle = request.user_handle,
                                     .pd = request.pd_handle,
                                     .max_wr = request.max_wr,
                                     .max_sge = request.max_sge,
                                     .limit = request.srq_limit});
}

int create_xsrq(Call &call)
{
    const auto request = call.request<ib_uverbs_create_xsrq>();
    Wanted wanted{.user_handle = request.user_handle,
                  .pd = request.pd_handle,
                  .max_wr = request.max_wr,
                  .max_sge = request.max_sge,
                  .limit = request.srq_limit,
                  .max_tags = request.max_num_tags,
                  .type = request.srq_type};
    if (wanted.type == IB_UVERBS_SRQT_XRC)
        wanted.xrcd = request.xrcd_handle;
    if (wanted.type == IB_UVERBS_SRQT_XRC || wanted.type == IB_UVERBS_SRQT_TM)
        wanted.cq = request.cq_handle;
    return create_and_respond(call, wanted);
}

constexpr Field kModifyRequest[] = {
    SIM_FIELD(ib_uverbs_modify_srq, srq_handle, Show::kHandle), SIM_FIELD(ib_uverbs_modify_srq, attr_mask),
    SIM_FIELD(ib_uverbs_modify_srq, max_wr), SIM_FIELD(ib_uverbs_modify_srq, srq_limit)};

int modify_srq(Call &call)
{
    const auto request = call.request<ib_uverbs_modify_srq>();
    Object *srq = call.find(UVERBS_OBJECT_SRQ, request.srq_handle);
    if (srq == nullptr)
        return call.error();
    const bool is_resize = (request.attr_mask & IBV_SRQ_MAX_WR) != 0;
    const uint32_t room = is_resize ? request.max_wr : srq->cap.max_recv_wr;
    if (is_resize && (request.max_wr == 0 || request.max_wr > call.device().attributes.base.max_srq_wr))
        return EINVAL;
    if ((request.attr_mask & IBV_SRQ_LIMIT) != 0 && request.srq_limit > room)
        return EINVAL;
    const uint32_t before = srq->cap.max_recv_wr;
    srq->cap.max_recv_wr = room;
    if (const int error = driver_modify_srq(call, *srq, is_resize)) {
        srq->cap.max_recv_wr = before;
        return error;
    }
    if ((request.attr_mask & IBV_SRQ_LIMIT) != 0)
        srq->limit = request.srq_limit;
    return 0;
}

constexpr Field kQueryRequest[] = {SIM_FIELD(ib_uverbs_query_srq, response, Show::kHidden),
                                   SIM_FIELD(ib_uverbs_query_srq, srq_handle, Show::kHandle),
                                   SIM_FIELD(ib_uverbs_query_srq, reserved, Show::kReserved)};
constexpr Field kQueryResponse[] = {SIM_FIELD(ib_uverbs_query_srq_resp, max_wr),
                                    SIM_FIELD(ib_uverbs_query_srq_resp, max_sge),
                                    SIM_FIELD(ib_uverbs_query_srq_resp, srq_limit)};

int query_srq(Call &call)
{
    const Object *srq = call.find(UVERBS_OBJECT_SRQ, call.request<ib_uverbs_query_srq>().srq_handle);
    if (srq == nullptr)
        return call.error();
    call.respond(ib_uverbs_query_srq_resp{.max_wr = srq->cap.max_recv_wr,
                                          .max_sge = srq->cap.max_recv_sge,
                                          .srq_limit = srq->limit,
                                          .reserved = 0});
    return 0;
}

constexpr Field kDestroyRequest[] = {SIM_FIELD(ib_uverbs_destroy_srq, response, Show::kHidden),
                                     SIM_FIELD(ib_uverbs_destroy_srq, srq_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_destroy_srq, reserved, Show::kReserved)};
constexpr Field kDestroyResponse[] = {SIM_FIELD(ib_uverbs_destroy_srq_resp, events_reported)};

int destroy_srq_write(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_SRQ, call.request<ib_uverbs_destroy_srq>().srq_handle, &last);
    if (error == 0)
        call.respond(ib_uverbs_destroy_srq_resp{.events_reported = last.async_events});
    return error;
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_SRQ_HANDLE, "srq_handle", Kind::kDestroyed, UVERBS_OBJECT_SRQ},
    {UVERBS_ATTR_DESTROY_SRQ_RESP, "events_reported", Kind::kOut, 0, 4, 4},
};

int destroy_srq(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_SRQ, call.handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE), &last);
    if (error == 0)
        call.out(UVERBS_ATTR_DESTROY_SRQ_RESP,
                 ib_uverbs_destroy_srq_resp{.events_reported = last.async_events});
    return error;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, "SRQ/CREATE", kCreate, create_srq},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, "SRQ/DESTROY", kDestroy, destroy_srq},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_CREATE_SRQ, "SRQ/CREATE", sizeof(ib_uverbs_create_srq),
     sizeof(ib_uverbs_create_srq_resp), kCreateRequest, kCreateResponse, create_srq_write},
    {IB_USER_VERBS_CMD_CREATE_XSRQ, "SRQ/CREATE", sizeof(ib_uverbs_create_xsrq),
     sizeof(ib_uverbs_create_srq_resp), kCreateXRequest, kCreateResponse, create_xsrq},
    {IB_USER_VERBS_CMD_MODIFY_SRQ,
     "SRQ/MODIFY",
     sizeof(ib_uverbs_modify_srq),
     0,
     kModifyRequest,
     {},
     modify_srq,
     false},
    {IB_USER_VERBS_CMD_QUERY_SRQ, "SRQ/QUERY", sizeof(ib_uverbs_query_srq), sizeof(ib_uverbs_query_srq_resp),
     kQueryRequest, kQueryResponse, query_srq},
    {IB_USER_VERBS_CMD_DESTROY_SRQ, "SRQ/DESTROY", sizeof(ib_uverbs_destroy_srq),
     sizeof(ib_uverbs_destroy_srq_resp), kDestroyRequest, kDestroyResponse, destroy_srq_write},
};

}  // namespace

Methods srq_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
