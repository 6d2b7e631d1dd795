// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion queues.
#include "uverbs/cq.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kCreate = {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE};

Status create_by_ioctl(Channel &channel, const CqRequest &cq, const DriverData &driver, CqInfo &info)
{
    Attributes<10> attributes(kCreate);
    attributes.new_object(UVERBS_ATTR_CREATE_CQ_HANDLE)
        .out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, info.cqe)
        .in(UVERBS_ATTR_CREATE_CQ_CQE, cq.cqe)
        .in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, cq.user_handle)
        .in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, cq.comp_vector)
        .file(UVERBS_ATTR_CREATE_CQ_EVENT_FD, cq.async_fd)
        .optional();
    if (cq.comp_channel_fd >= 0)
        attributes.file(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, cq.comp_channel_fd);
    if (cq.flags != 0)
        attributes.in(UVERBS_ATTR_CREATE_CQ_FLAGS, cq.flags);
    Status status = attributes.driver(driver).issue(channel);
    if (status)
        info.handle = attributes.result();
    return status;
}

Status create_by_plain_write(Channel &channel, const CqRequest &cq, const DriverData &driver, CqInfo &info)
{
    ib_uverbs_create_cq request = {};
    request.user_handle = cq.user_handle;
    request.cqe = cq.cqe;
    request.comp_vector = cq.comp_vector;
    request.comp_channel = cq.comp_channel_fd;
    ib_uverbs_create_cq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_CQ, request, response, driver);
    info = {.handle = response.cq_handle, .cqe = response.cqe};
    return status;
}

Status create_by_extended_write(Channel &channel, const CqRequest &cq, const DriverData &driver, CqInfo &info)
{
    ib_uverbs_ex_create_cq request = {};
    request.user_handle = cq.user_handle;
    request.cqe = cq.cqe;
    request.comp_vector = cq.comp_vector;
    request.comp_channel = cq.comp_channel_fd;
    request.flags = cq.flags;
    ib_uverbs_ex_create_cq_resp response = {};
    Status status = extended_command(channel, IB_USER_VERBS_EX_CMD_CREATE_CQ, request, response, driver);
    info = {.handle = response.base.cq_handle, .cqe = response.base.cqe};
    return status;
}

}  // namespace

Result<CqInfo> cq_create(Channel &channel, const CqRequest &cq, const DriverData &driver)
{
    CqInfo info;
    Status status(EPROTONOSUPPORT);
    if (channel.offers(kCreate))
        status = create_by_ioctl(channel, cq, driver, info);
    if (Channel::is_refusal(status)) {
        status = cq.flags != 0 ? create_by_extended_write(channel, cq, driver, info)
                               : create_by_plain_write(channel, cq, driver, info);
    }
    if (!status)
        return status;
    return info;
}

Result<uint32_t> cq_resize(Channel &channel, uint32_t handle, uint32_t cqe, const DriverData &driver)
{
    ib_uverbs_resize_cq request = {};
    request.cq_handle = handle;
    request.cqe = cqe;
    ib_uverbs_resize_cq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_RESIZE_CQ, request, response, driver);
    if (!status)
        return status;
    return response.cqe;
}

Status cq_request_notification(Channel &channel, uint32_t handle, bool solicited_only)
{
    ib_uverbs_req_notify_cq request = {.cq_handle = handle, .solicited_only = solicited_only};
    return write_command(channel, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, request);
}

Status cq_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_cq_resp &response)
{
    ib_uverbs_destroy_cq request = {};
    request.cq_handle = handle;
    return object_destroy(channel, {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY},
                          UVERBS_ATTR_DESTROY_CQ_HANDLE, handle, UVERBS_ATTR_DESTROY_CQ_RESP,
                          IB_USER_VERBS_CMD_DESTROY_CQ, request, response);
}

}  // namespace verbs::uverbs
