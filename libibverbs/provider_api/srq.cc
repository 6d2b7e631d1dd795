// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for shared receive queues.
#include "uverbs/srq.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;

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
    verbs::Result<verbs::uverbs::SrqInfo> info = verbs::uverbs::srq_create(
        channel(pd->context), request, verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return info.error();
    srq->context = pd->context;
    srq->srq_context = attr->srq_context;
    srq->pd = pd;
    srq->handle = info->handle;
    srq->events_completed = 0;
    pthread_mutex_init(&srq->mutex, nullptr);
    pthread_cond_init(&srq->cond, nullptr);
    attr->attr.max_wr = info->max_wr;
    attr->attr.max_sge = info->max_sge;
    return 0;
}

VERBS_EXPORT int ibv_cmd_modify_srq(ibv_srq *srq, ibv_srq_attr *srq_attr, int srq_attr_mask,
                                    struct ibv_modify_srq *cmd, size_t cmd_size)
{
    return verbs::uverbs::srq_modify(channel(srq->context), srq->handle, *srq_attr, srq_attr_mask,
                                     verbs::provider_api::driver_data(cmd, cmd_size))
        .error();
}

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

VERBS_EXPORT int ibv_cmd_destroy_srq(ibv_srq *srq)
{
    ib_uverbs_destroy_srq_resp response;
    verbs::Status status = verbs::uverbs::srq_destroy(channel(srq->context), srq->handle, response);
    if (!status)
        return status.error();
    verbs::provider_api::wait_for_acknowledgements(
        srq->mutex, srq->cond, [&] { return srq->events_completed == response.events_reported; });
    return 0;
}
