// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for work queues.
#include "uverbs/wq.hh"

#include <infiniband/driver.h>

#include "base/enum_number.hh"
#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_create_wq(ibv_context *context, ibv_wq_init_attr *wq_init_attr, ibv_wq *wq,
                                   struct ibv_create_wq *cmd, size_t cmd_size,
                                   ib_uverbs_ex_create_wq_resp *resp, size_t resp_size)
{
    if (wq_init_attr->comp_mask >= IBV_WQ_INIT_ATTR_RESERVED)
        return creation_error(EINVAL);
    bool has_flags = (wq_init_attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS) != 0;
    if (has_flags && wq_init_attr->create_flags >= IBV_WQ_FLAGS_RESERVED)
        return creation_error(EOPNOTSUPP);
    verbs::Result<verbs::uverbs::WqInfo> info =
        verbs::uverbs::wq_create(channel(context),
                                 {.user_handle = verbs::provider_api::user_handle(wq),
                                  .type = verbs::enum_number(wq_init_attr->wq_type),
                                  .pd_handle = wq_init_attr->pd->handle,
                                  .cq_handle = wq_init_attr->cq->handle,
                                  .max_wr = wq_init_attr->max_wr,
                                  .max_sge = wq_init_attr->max_sge,
                                  .flags = has_flags ? wq_init_attr->create_flags : 0,
                                  .async_fd = context->async_fd},
                                 verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return creation_error(info.error());
    verbs::provider_api::give_answer(resp, resp_size,
                                     {.comp_mask = 0,
                                      .response_length = sizeof *resp,
                                      .wq_handle = info->handle,
                                      .max_wr = info->max_wr,
                                      .max_sge = info->max_sge,
                                      .wqn = info->wq_num});
    wq->context = context;
    wq->pd = wq_init_attr->pd;
    wq->cq = wq_init_attr->cq;
    wq->wq_num = info->wq_num;
    wq->handle = info->handle;
    verbs::copy_enum(wq->wq_type, wq_init_attr->wq_type);
    wq_init_attr->max_wr = info->max_wr;
    wq_init_attr->max_sge = info->max_sge;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_wq);

VERBS_EXPORT int ibv_cmd_modify_wq(ibv_wq *wq, ibv_wq_attr *attr, struct ibv_modify_wq *cmd, size_t cmd_size)
{
    if (attr->attr_mask >= IBV_WQ_ATTR_RESERVED)
        return EINVAL;
    verbs::Status status = verbs::uverbs::wq_modify(channel(wq->context), wq->handle, *attr,
                                                    verbs::provider_api::driver_data(cmd, cmd_size));
    if (status && (attr->attr_mask & IBV_WQ_ATTR_STATE) != 0)
        wq->state = attr->wq_state;
    return status.error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_modify_wq);

VERBS_EXPORT int ibv_cmd_destroy_wq(ibv_wq *wq)
{
    uint32_t events_reported;
    verbs::Status status = verbs::uverbs::wq_destroy(channel(wq->context), wq->handle, events_reported);
    if (!status)
        return verbs::provider_api::destroy_error(status);
    verbs::provider_api::wait_for_acknowledgements(wq->mutex, wq->cond,
                                                   [&] { return wq->events_completed == events_reported; });
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_wq);
