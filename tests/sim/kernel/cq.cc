// SPDX-License-Identifier: BSD-2-Clause
// Completion queues.
#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/event.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"

namespace sim {
namespace {

constexpr uint32_t kKnownFlags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;

struct Wanted {
    uint64_t user_handle = 0;
    uint32_t cqe = 0;
    uint32_t comp_vector = 0;
    uint32_t flags = 0;
    int comp_channel = -1;
    int event_fd = -1;
};

int make_cq(Call &call, const Wanted &wanted, uint32_t &handle, uint32_t &cqe)
{
    if (wanted.comp_vector >= call.device().num_comp_vectors)
        return EINVAL;
    uint32_t channel = 0;
    if (wanted.comp_channel >= 0) {
        channel = channel_of(wanted.comp_channel);
        if (channel == 0)
            return EBADF;
    }
    if (wanted.cqe == 0 || wanted.cqe > call.device().attributes.base.max_cqe)
        return EINVAL;
    const bool is_software =
        call.device().driver_id == RDMA_DRIVER_RXE || call.device().driver_id == RDMA_DRIVER_SIW;
    if ((wanted.flags & ~kKnownFlags) != 0 || (wanted.flags != 0 && is_software))
        return EOPNOTSUPP;
    Object *cq = call.file().add(UVERBS_OBJECT_CQ, handle);
    if (cq == nullptr)
        return ENOMEM;
    cq->user_handle = wanted.user_handle;
    cq->comp_channel = channel;
    cq->async_channel = wanted.event_fd >= 0 ? channel_of(wanted.event_fd) : call.state().default_async;
    cq->cap.max_recv_wr = wanted.cqe;
    if (const int error = driver_cq(call, *cq)) {
        call.file().discard(*cq);
        return error;
    }
    cqe = cq->cap.max_recv_wr;
    return 0;
}

constexpr Attribute kCreate[] = {
    {UVERBS_ATTR_CREATE_CQ_HANDLE, "cq_handle", Kind::kNew, UVERBS_OBJECT_CQ},
    {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "user_handle", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_CREATE_CQ_CQE, "cqe", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "comp_vector", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, "comp_channel", Kind::kFd, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_CQ_FLAGS, "flags", Kind::kFlags, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_CQ_EVENT_FD, "event_fd", Kind::kFd, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_CQ_BUFFER_VA, "buffer_va", Kind::kIn, 0, 8, 8, false, Show::kPointer},
    {UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, "buffer_length", Kind::kIn, 0, 8, 8, false},
    {UVERBS_ATTR_CREATE_CQ_BUFFER_FD, "buffer_fd", Kind::kRawFd, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, "buffer_offset", Kind::kIn, 0, 8, 8, false},
    {UVERBS_ATTR_CREATE_CQ_BUF_UMEM, "buf_umem", Kind::kIn, 0, sizeof(ib_uverbs_buffer_desc),
     sizeof(ib_uverbs_buffer_desc), false, Show::kBytes},
    {UVERBS_ATTR_CREATE_CQ_RESP_CQE, "cqe", Kind::kOut, 0, 4, 4},
};

/// Memory for the queue comes by address or by file, each with its length, never by both.
int check_buffer(Call &call)
{
    const bool has_address = call.has(UVERBS_ATTR_CREATE_CQ_BUFFER_VA);
    const bool has_file = call.has(UVERBS_ATTR_CREATE_CQ_BUFFER_FD);
    const bool has_length = call.has(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH);
    const bool has_offset = call.has(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET);
    if (has_address && (!has_length || has_file || has_offset))
        return EINVAL;
    if (has_file && (!has_length || !has_offset))
        return EINVAL;
    if (!has_address && !has_file && (has_length || has_offset))
        return EINVAL;
    return 0;
}

int create_cq(Call &call)
{
    if (const int error = check_buffer(call))
        return error;
    if ((call.constant(UVERBS_ATTR_CREATE_CQ_FLAGS) & ~uint64_t{kKnownFlags}) != 0)
        return EINVAL;
    uint32_t handle = 0;
    uint32_t cqe = 0;
    const int error = make_cq(call,
                              {.user_handle = call.in<uint64_t>(UVERBS_ATTR_CREATE_CQ_USER_HANDLE),
                               .cqe = call.in<uint32_t>(UVERBS_ATTR_CREATE_CQ_CQE),
                               .comp_vector = call.in<uint32_t>(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
                               .flags = static_cast<uint32_t>(call.constant(UVERBS_ATTR_CREATE_CQ_FLAGS)),
                               .comp_channel = call.descriptor(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
                               .event_fd = call.descriptor(UVERBS_ATTR_CREATE_CQ_EVENT_FD)},
                              handle, cqe);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_CREATE_CQ_HANDLE, handle);
    call.out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
    return 0;
}

constexpr Field kCreateRequest[] = {
    SIM_FIELD(ib_uverbs_create_cq, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_create_cq, user_handle),
    SIM_FIELD(ib_uverbs_create_cq, cqe),
    SIM_FIELD(ib_uverbs_create_cq, comp_vector),
    SIM_FIELD(ib_uverbs_create_cq, comp_channel, Show::kFd),
    SIM_FIELD(ib_uverbs_create_cq, reserved, Show::kReserved),
};
constexpr Field kCreateResponse[] = {SIM_FIELD(ib_uverbs_create_cq_resp, cq_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_create_cq_resp, cqe)};

int create_cq_write(Call &call)
{
    const auto request = call.request<ib_uverbs_create_cq>();
    ib_uverbs_create_cq_resp response = {};
    const int error = make_cq(call,
                              {.user_handle = request.user_handle,
                               .cqe = request.cqe,
                               .comp_vector = request.comp_vector,
                               .comp_channel = request.comp_channel},
                              response.cq_handle, response.cqe);
    if (error == 0)
        call.respond(response);
    return error;
}

constexpr Field kCreateExRequest[] = {
    SIM_FIELD(ib_uverbs_ex_create_cq, user_handle),
    SIM_FIELD(ib_uverbs_ex_create_cq, cqe),
    SIM_FIELD(ib_uverbs_ex_create_cq, comp_vector),
    SIM_FIELD(ib_uverbs_ex_create_cq, comp_channel, Show::kFd),
    SIM_FIELD(ib_uverbs_ex_create_cq, flags),
    SIM_FIELD(ib_uverbs_ex_create_cq, comp_mask, Show::kReserved),
    SIM_FIELD(ib_uverbs_ex_create_cq, reserved, Show::kReserved),
};
constexpr Field kCreateExResponse[] = {SIM_FIELD(ib_uverbs_ex_create_cq_resp, base.cq_handle, Show::kHandle),
                                       SIM_FIELD(ib_uverbs_ex_create_cq_resp, base.cqe),
                                       SIM_FIELD(ib_uverbs_ex_create_cq_resp, response_length)};

int create_cq_ex(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_create_cq>();
    if (request.comp_mask != 0 || request.reserved != 0)
        return EINVAL;
    ib_uverbs_ex_create_cq_resp response = {};
    response.response_length = sizeof response;
    const int error = make_cq(call,
                              {.user_handle = request.user_handle,
                               .cqe = request.cqe,
                               .comp_vector = request.comp_vector,
                               .flags = request.flags,
                               .comp_channel = request.comp_channel},
                              response.base.cq_handle, response.base.cqe);
    if (error == 0)
        call.respond(response);
    return error;
}

constexpr Field kResizeRequest[] = {SIM_FIELD(ib_uverbs_resize_cq, response, Show::kHidden),
                                    SIM_FIELD(ib_uverbs_resize_cq, cq_handle, Show::kHandle),
                                    SIM_FIELD(ib_uverbs_resize_cq, cqe)};
constexpr Field kResizeResponse[] = {SIM_FIELD(ib_uverbs_resize_cq_resp, cqe)};

int resize_cq(Call &call)
{
    const auto request = call.request<ib_uverbs_resize_cq>();
    Object *cq = call.find(UVERBS_OBJECT_CQ, request.cq_handle);
    if (cq == nullptr)
        return call.error();
    if (call.device().driver_id == RDMA_DRIVER_SIW)
        return EOPNOTSUPP;
    if (request.cqe == 0 || request.cqe > call.device().attributes.base.max_cqe)
        return EINVAL;
    cq->cap.max_recv_wr = request.cqe;
    if (const int error = driver_cq(call, *cq))
        return error;
    ib_uverbs_resize_cq_resp response = {};
    response.cqe = cq->cap.max_recv_wr;
    // The kernel writes no more than the first word of the core's part.
    call.respond_bytes(&response, sizeof response.cqe);
    return 0;
}

constexpr Field kModifyRequest[] = {
    SIM_FIELD(ib_uverbs_ex_modify_cq, cq_handle, Show::kHandle), SIM_FIELD(ib_uverbs_ex_modify_cq, attr_mask),
    SIM_FIELD(ib_uverbs_ex_modify_cq, attr.cq_count), SIM_FIELD(ib_uverbs_ex_modify_cq, attr.cq_period),
    SIM_FIELD(ib_uverbs_ex_modify_cq, reserved, Show::kReserved)};

int modify_cq(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_modify_cq>();
    if (request.attr_mask == 0 || request.reserved != 0)
        return EINVAL;
    if (request.attr_mask > 1)
        return EOPNOTSUPP;
    Object *cq = call.find(UVERBS_OBJECT_CQ, request.cq_handle);
    if (cq == nullptr)
        return call.error();
    if (call.device().attributes.cq_moderation_caps.max_cq_moderation_count == 0)
        return EOPNOTSUPP;
    cq->cq_count = request.attr.cq_count;
    cq->cq_period = request.attr.cq_period;
    return 0;
}

constexpr Field kPollRequest[] = {SIM_FIELD(ib_uverbs_poll_cq, response, Show::kHidden),
                                  SIM_FIELD(ib_uverbs_poll_cq, cq_handle, Show::kHandle),
                                  SIM_FIELD(ib_uverbs_poll_cq, ne)};
constexpr Field kPollResponse[] = {SIM_FIELD(ib_uverbs_poll_cq_resp, count)};

int poll_cq(Call &call)
{
    if (call.find(UVERBS_OBJECT_CQ, call.request<ib_uverbs_poll_cq>().cq_handle) == nullptr)
        return call.error();
    // Nobody works on the queues, so none completes.
    ib_uverbs_poll_cq_resp response = {};
    call.respond_bytes(&response, sizeof response);
    return 0;
}

constexpr Field kNotifyRequest[] = {SIM_FIELD(ib_uverbs_req_notify_cq, cq_handle, Show::kHandle),
                                    SIM_FIELD(ib_uverbs_req_notify_cq, solicited_only)};

int req_notify_cq(Call &call)
{
    Object *cq = call.find(UVERBS_OBJECT_CQ, call.request<ib_uverbs_req_notify_cq>().cq_handle);
    if (cq == nullptr)
        return call.error();
    cq->armed = 1;
    return 0;
}

constexpr Field kDestroyRequest[] = {SIM_FIELD(ib_uverbs_destroy_cq, response, Show::kHidden),
                                     SIM_FIELD(ib_uverbs_destroy_cq, cq_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_destroy_cq, reserved, Show::kReserved)};
constexpr Field kDestroyResponse[] = {SIM_FIELD(ib_uverbs_destroy_cq_resp, comp_events_reported),
                                      SIM_FIELD(ib_uverbs_destroy_cq_resp, async_events_reported)};

int destroy_cq_write(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_CQ, call.request<ib_uverbs_destroy_cq>().cq_handle, &last);
    if (error == 0)
        call.respond(ib_uverbs_destroy_cq_resp{.comp_events_reported = last.comp_events,
                                               .async_events_reported = last.async_events});
    return error;
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_CQ_HANDLE, "cq_handle", Kind::kDestroyed, UVERBS_OBJECT_CQ},
    {UVERBS_ATTR_DESTROY_CQ_RESP, "events_reported", Kind::kOut, 0, sizeof(ib_uverbs_destroy_cq_resp),
     sizeof(ib_uverbs_destroy_cq_resp)},
};

int destroy_cq(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_CQ, call.handle(UVERBS_ATTR_DESTROY_CQ_HANDLE), &last);
    if (error == 0)
        call.out(UVERBS_ATTR_DESTROY_CQ_RESP,
                 ib_uverbs_destroy_cq_resp{.comp_events_reported = last.comp_events,
                                           .async_events_reported = last.async_events});
    return error;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "CQ/CREATE", kCreate, create_cq, true},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ/DESTROY", kDestroy, destroy_cq, true},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_CREATE_CQ, "CQ/CREATE", sizeof(ib_uverbs_create_cq), sizeof(ib_uverbs_create_cq_resp),
     kCreateRequest, kCreateResponse, create_cq_write},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ, "CQ/CREATE",
     sizeof(ib_uverbs_ex_create_cq), sizeof(ib_uverbs_ex_create_cq_resp), kCreateExRequest, kCreateExResponse,
     create_cq_ex, false},
    {IB_USER_VERBS_CMD_RESIZE_CQ, "CQ/RESIZE", sizeof(ib_uverbs_resize_cq), sizeof(ib_uverbs_resize_cq_resp),
     kResizeRequest, kResizeResponse, resize_cq},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
     "CQ/MODIFY",
     sizeof(ib_uverbs_ex_modify_cq),
     0,
     kModifyRequest,
     {},
     modify_cq,
     false},
    {IB_USER_VERBS_CMD_POLL_CQ, "CQ/POLL", sizeof(ib_uverbs_poll_cq), sizeof(ib_uverbs_poll_cq_resp),
     kPollRequest, kPollResponse, poll_cq},
    {IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
     "CQ/REQ_NOTIFY",
     sizeof(ib_uverbs_req_notify_cq),
     0,
     kNotifyRequest,
     {},
     req_notify_cq,
     false},
    {IB_USER_VERBS_CMD_DESTROY_CQ, "CQ/DESTROY", sizeof(ib_uverbs_destroy_cq),
     sizeof(ib_uverbs_destroy_cq_resp), kDestroyRequest, kDestroyResponse, destroy_cq_write},
};

}  // namespace

Methods cq_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
