// SPDX-License-Identifier: BSD-2-Clause
// Commands for work queues.
#include "uverbs/wq.hh"

#include "base/enum_number.hh"
#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kCreate = {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE};
constexpr Method kDestroy = {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY};

Status create_by_ioctl(Channel &channel, const WqRequest &wq, const DriverData &driver, WqInfo &info)
{
    Attributes<14> attributes(kCreate);
    Status status = attributes.new_object(UVERBS_ATTR_CREATE_WQ_HANDLE)
                        .in(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, wq.user_handle)
                        .object(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, wq.pd_handle)
                        .object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, wq.cq_handle)
                        .constant(UVERBS_ATTR_CREATE_WQ_TYPE, wq.type)
                        .in(UVERBS_ATTR_CREATE_WQ_MAX_WR, wq.max_wr)
                        .in(UVERBS_ATTR_CREATE_WQ_MAX_SGE, wq.max_sge)
                        .event_file(UVERBS_ATTR_CREATE_WQ_EVENT_FD, wq.async_fd)
                        .in(UVERBS_ATTR_CREATE_WQ_FLAGS, wq.flags)
                        .out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, info.max_wr)
                        .out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, info.max_sge)
                        .out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, info.wq_num)
                        .driver(driver)
                        .issue(channel);
    if (status)
        info.handle = attributes.result();
    return status;
}

Status create_by_write(Channel &channel, const WqRequest &wq, const DriverData &driver, WqInfo &info)
{
    ib_uverbs_ex_create_wq request = {};
    request.wq_type = wq.type;
    request.user_handle = wq.user_handle;
    request.pd_handle = wq.pd_handle;
    request.cq_handle = wq.cq_handle;
    request.max_wr = wq.max_wr;
    request.max_sge = wq.max_sge;
    request.create_flags = wq.flags;
    ib_uverbs_ex_create_wq_resp response = {};
    Status status = extended_command(channel, IB_USER_VERBS_EX_CMD_CREATE_WQ, request, response, driver);
    info = {.handle = response.wq_handle,
            .wq_num = response.wqn,
            .max_wr = response.max_wr,
            .max_sge = response.max_sge};
    return status;
}

}  // namespace

Result<WqInfo> wq_create(Channel &channel, const WqRequest &wq, const DriverData &driver)
{
    WqInfo info;
    Status status;
    if (channel.offers(kCreate))
        status = create_by_ioctl(channel, wq, driver, info);
    if (!channel.offers(kCreate))
        status = create_by_write(channel, wq, driver, info);
    if (!status)
        return status;
    return info;
}

Status wq_modify(Channel &channel, uint32_t handle, const ibv_wq_attr &attr, const DriverData &driver)
{
    // Only what the mask names is read: the rest of the program's structure may be uninitialised.
    ib_uverbs_ex_modify_wq request = {};
    request.attr_mask = attr.attr_mask;
    request.wq_handle = handle;
    if ((attr.attr_mask & IBV_WQ_ATTR_STATE) != 0)
        request.wq_state = enum_number(attr.wq_state);
    if ((attr.attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0)
        request.curr_wq_state = enum_number(attr.curr_wq_state);
    if ((attr.attr_mask & IBV_WQ_ATTR_FLAGS) != 0) {
        request.flags = attr.flags;
        request.flags_mask = attr.flags_mask;
    }
    return extended_command(channel, IB_USER_VERBS_EX_CMD_MODIFY_WQ, request, driver);
}

Status wq_destroy(Channel &channel, uint32_t handle, uint32_t &events_reported)
{
    events_reported = 0;
    Status status = object_destroy_by_ioctl(channel, kDestroy, UVERBS_ATTR_DESTROY_WQ_HANDLE, handle,
                                            UVERBS_ATTR_DESTROY_WQ_RESP, events_reported);
    if (channel.offers(kDestroy))
        return status;
    ib_uverbs_ex_destroy_wq request = {.comp_mask = 0, .wq_handle = handle};
    ib_uverbs_ex_destroy_wq_resp response = {};
    status = extended_command(channel, IB_USER_VERBS_EX_CMD_DESTROY_WQ, request, response);
    events_reported = response.events_reported;
    return status;
}

}  // namespace verbs::uverbs
