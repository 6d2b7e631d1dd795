// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for shared receive queues.
#include "uverbs/srq.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

namespace {

/// Makes the queue, fills `srq` and the sizes in `attr`; the number that an XRC queue has.
verbs::Result<uint32_t> create(ibv_srq &srq, const verbs::uverbs::SrqRequest &request, ibv_pd &pd,
                               void *srq_context, ibv_srq_attr &attr, const verbs::uverbs::DriverData &driver)
{
    verbs::Result<verbs::uverbs::SrqInfo> info =
        verbs::uverbs::srq_create(channel(pd.context), request, driver);
    if (!info)
        return info.status();
    srq.context = pd.context;
    srq.srq_context = srq_context;
    srq.pd = &pd;
    srq.handle = info->handle;
    srq.events_completed = 0;
    pthread_mutex_init(&srq.mutex, nullptr);
    pthread_cond_init(&srq.cond, nullptr);
    attr.max_wr = info->max_wr;
    attr.max_sge = info->max_sge;
    return info->srq_num;
}

ib_uverbs_create_srq_resp answer(const ibv_srq &srq, const ibv_srq_attr &attr, uint32_t srq_num)
{
    return {.srq_handle = srq.handle, .max_wr = attr.max_wr, .max_sge = attr.max_sge, .srqn = srq_num};
}

}  // namespace

VERBS_EXPORT int ibv_cmd_create_srq(ibv_pd *pd, ibv_srq *srq, ibv_srq_init_attr *attr,
                                    struct ibv_create_srq *cmd, size_t cmd_size,
                                    ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
    verbs::uverbs::SrqRequest request = {.user_handle = verbs::provider_api::user_handle(srq),
                                         .pd_handle = pd->handle,
                                         .max_wr = attr->attr.max_wr,
                                         .max_sge = attr->attr.max_sge,
                                         .srq_limit = attr->attr.srq_limit,
                                         .async_fd = pd->context->async_fd};
    verbs::Result<uint32_t> srq_num =
        create(*srq, request, *pd, attr->srq_context, attr->attr,
               verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!srq_num)
        return creation_error(srq_num.error());
    verbs::provider_api::give_answer(resp, resp_size, answer(*srq, attr->attr, *srq_num));
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_srq);

VERBS_EXPORT int ibv_cmd_create_srq_ex(ibv_context *context, verbs_srq *vsrq, ibv_srq_init_attr_ex *attr_ex,
                                       struct ibv_create_xsrq *cmd, size_t cmd_size,
                                       ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
    if (attr_ex->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED)
        return creation_error(EOPNOTSUPP);
    auto has = [attr_ex](uint32_t bits) { return (attr_ex->comp_mask & bits) == bits; };
    ibv_srq_type type = has(IBV_SRQ_INIT_ATTR_TYPE) ? attr_ex->srq_type : IBV_SRQT_BASIC;
    const bool has_pd = has(IBV_SRQ_INIT_ATTR_PD) && attr_ex->pd != nullptr;
    const bool has_cq = has(IBV_SRQ_INIT_ATTR_CQ) && attr_ex->cq != nullptr;
    const bool has_xrcd = has(IBV_SRQ_INIT_ATTR_XRCD) && attr_ex->xrcd != nullptr;
    if (!has_pd || (type == IBV_SRQT_XRC && !(has_xrcd && has_cq)) ||
        (type == IBV_SRQT_TM && !(has_cq && has(IBV_SRQ_INIT_ATTR_TM))))
        return creation_error(EINVAL);

    verbs::uverbs::SrqRequest request = {.user_handle = verbs::provider_api::user_handle(vsrq),
                                         .pd_handle = attr_ex->pd->handle,
                                         .max_wr = attr_ex->attr.max_wr,
                                         .max_sge = attr_ex->attr.max_sge,
                                         .srq_limit = attr_ex->attr.srq_limit,
                                         .async_fd = context->async_fd,
                                         .type = type};
    verbs_xrcd *xrcd = nullptr;
    ibv_cq *cq = type != IBV_SRQT_BASIC && has_cq ? attr_ex->cq : nullptr;
    if (type == IBV_SRQT_XRC) {
        xrcd = reinterpret_cast<verbs_xrcd *>(attr_ex->xrcd);
        request.xrcd_handle = xrcd->handle;
    }
    if (type == IBV_SRQT_TM)
        request.max_num_tags = attr_ex->tm_cap.max_num_tags;
    if (cq != nullptr)
        request.cq_handle = cq->handle;
    verbs::Result<uint32_t> srq_num =
        create(vsrq->srq, request, *attr_ex->pd, attr_ex->srq_context, attr_ex->attr,
               verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!srq_num)
        return creation_error(srq_num.error());
    verbs::provider_api::give_answer(resp, resp_size, answer(vsrq->srq, attr_ex->attr, *srq_num));
    vsrq->srq_type = type;
    vsrq->xrcd = xrcd;
    vsrq->cq = cq;
    vsrq->srq_num = *srq_num;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_srq_ex);

VERBS_EXPORT int ibv_cmd_modify_srq(ibv_srq *srq, ibv_srq_attr *srq_attr, int srq_attr_mask,
                                    struct ibv_modify_srq *cmd, size_t cmd_size)
{
    return verbs::uverbs::srq_modify(channel(srq->context), srq->handle, *srq_attr, srq_attr_mask,
                                     verbs::provider_api::driver_data(cmd, cmd_size))
        .error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_modify_srq);

VERBS_EXPORT int ibv_cmd_query_srq(ibv_srq *srq, ibv_srq_attr *srq_attr, struct ibv_query_srq *cmd,
                                   size_t cmd_size)
{
    verbs::Result<ibv_srq_attr> attr = verbs::uverbs::srq_query(
        channel(srq->context), srq->handle, verbs::provider_api::driver_data(cmd, cmd_size));
    if (!attr)
        return attr.error();
    *srq_attr = *attr;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_query_srq);

VERBS_EXPORT int ibv_cmd_destroy_srq(ibv_srq *srq)
{
    ib_uverbs_destroy_srq_resp response;
    verbs::Status status = verbs::uverbs::srq_destroy(channel(srq->context), srq->handle, response);
    if (!status)
        return verbs::provider_api::destroy_error(status);
    verbs::provider_api::wait_for_acknowledgements(
        srq->mutex, srq->cond, [&] { return srq->events_completed == response.events_reported; });
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_srq);
