// SPDX-License-Identifier: BSD-2-Clause
// Commands for shared receive queues.
#include "uverbs/srq.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kCreate = {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE};

constexpr bool same(ibv_srq_type ours, ib_uverbs_srq_type kernel)
{
    return int{ours} == int{kernel};
}
static_assert(same(IBV_SRQT_BASIC, IB_UVERBS_SRQT_BASIC) && same(IBV_SRQT_XRC, IB_UVERBS_SRQT_XRC) &&
              same(IBV_SRQT_TM, IB_UVERBS_SRQT_TM));

Status create_by_ioctl(Channel &channel, const SrqRequest &srq, const DriverData &driver, SrqInfo &info)
{
    Attributes<16> attributes(kCreate);
    if (srq.xrcd_handle)
        attributes.object(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, *srq.xrcd_handle)
            .out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, info.srq_num);
    if (srq.cq_handle)
        attributes.object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, *srq.cq_handle);
    if (srq.max_num_tags)
        attributes.in(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, *srq.max_num_tags);
    Status status = attributes.new_object(UVERBS_ATTR_CREATE_SRQ_HANDLE)
                        .object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, srq.pd_handle)
                        .constant(UVERBS_ATTR_CREATE_SRQ_TYPE, srq.type)
                        .in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, srq.user_handle)
                        .in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, srq.max_wr)
                        .in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, srq.max_sge)
                        .in(UVERBS_ATTR_CREATE_SRQ_LIMIT, srq.srq_limit)
                        .event_file(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, srq.async_fd)
                        .out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, info.max_wr)
                        .out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, info.max_sge)
                        .driver(driver)
                        .issue(channel);
    if (status)
        info.handle = attributes.result();
    return status;
}

Status create_basic_by_write(Channel &channel, const SrqRequest &srq, const DriverData &driver, SrqInfo &info)
{
    ib_uverbs_create_srq request = {};
    request.user_handle = srq.user_handle;
    request.pd_handle = srq.pd_handle;
    request.max_wr = srq.max_wr;
    request.max_sge = srq.max_sge;
    request.srq_limit = srq.srq_limit;
    ib_uverbs_create_srq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_SRQ, request, response, driver);
    info = {.handle = response.srq_handle, .max_wr = response.max_wr, .max_sge = response.max_sge};
    return status;
}

Status create_typed_by_write(Channel &channel, const SrqRequest &srq, const DriverData &driver, SrqInfo &info)
{
    ib_uverbs_create_xsrq request = {};
    request.user_handle = srq.user_handle;
    request.srq_type = srq.type;
    request.pd_handle = srq.pd_handle;
    request.max_wr = srq.max_wr;
    request.max_sge = srq.max_sge;
    request.srq_limit = srq.srq_limit;
    request.max_num_tags = srq.max_num_tags.value_or(0);
    request.xrcd_handle = srq.xrcd_handle.value_or(0);
    request.cq_handle = srq.cq_handle.value_or(0);
    ib_uverbs_create_srq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_XSRQ, request, response, driver);
    info = {.handle = response.srq_handle,
            .max_wr = response.max_wr,
            .max_sge = response.max_sge,
            .srq_num = response.srqn};
    return status;
}

}  // namespace

Result<SrqInfo> srq_create(Channel &channel, const SrqRequest &srq, const DriverData &driver)
{
    SrqInfo info;
    Status status;
    if (channel.offers(kCreate))
        status = create_by_ioctl(channel, srq, driver, info);
    if (!channel.offers(kCreate))
        status = srq.type == IBV_SRQT_BASIC ? create_basic_by_write(channel, srq, driver, info)
                                            : create_typed_by_write(channel, srq, driver, info);
    if (!status)
        return status;
    return info;
}

Status srq_modify(Channel &channel, uint32_t handle, const ibv_srq_attr &attr, int attr_mask,
                  const DriverData &driver)
{
    auto mask = static_cast<uint32_t>(attr_mask);
    ib_uverbs_modify_srq request = {};
    request.srq_handle = handle;
    request.attr_mask = mask;
    if ((mask & IBV_SRQ_MAX_WR) != 0)
        request.max_wr = attr.max_wr;
    if ((mask & IBV_SRQ_LIMIT) != 0)
        request.srq_limit = attr.srq_limit;
    return write_command(channel, IB_USER_VERBS_CMD_MODIFY_SRQ, request, driver);
}

Result<ibv_srq_attr> srq_query(Channel &channel, uint32_t handle, const DriverData &driver)
{
    ib_uverbs_query_srq request = {};
    request.srq_handle = handle;
    ib_uverbs_query_srq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_QUERY_SRQ, request, response, driver);
    if (!status)
        return status;
    return ibv_srq_attr{
        .max_wr = response.max_wr, .max_sge = response.max_sge, .srq_limit = response.srq_limit};
}

Status srq_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_srq_resp &response)
{
    ib_uverbs_destroy_srq request = {};
    request.srq_handle = handle;
    return object_destroy(channel, {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY},
                          UVERBS_ATTR_DESTROY_SRQ_HANDLE, handle, UVERBS_ATTR_DESTROY_SRQ_RESP,
                          IB_USER_VERBS_CMD_DESTROY_SRQ, request, response);
}

}  // namespace verbs::uverbs
