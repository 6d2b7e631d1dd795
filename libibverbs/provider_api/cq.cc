// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for completion queues.
#include "uverbs/cq.hh"

#include <infiniband/driver.h>

#include <optional>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

namespace {

int create(ibv_context *context, const verbs::uverbs::CqRequest &request, ibv_cq &cq,
           const verbs::uverbs::DriverData &driver, ibv_command_buffer *attributes = nullptr)
{
    verbs::Result<verbs::uverbs::CqInfo> info =
        verbs::uverbs::cq_create(channel(context), request, driver, attributes);
    if (!info) {
        bool is_newer = request.buffer || attributes != nullptr;
        return creation_error(is_newer ? verbs::provider_api::newer_error(info.status()) : info.error());
    }
    cq.context = context;
    cq.handle = info->handle;
    cq.cqe = static_cast<int>(info->cqe);
    return 0;
}

ib_uverbs_create_cq_resp answer(const ibv_cq &cq)
{
    return {.cq_handle = cq.handle, .cqe = static_cast<uint32_t>(cq.cqe)};
}

/// The memory that the provider has for the queue, if any; EINVAL where the flags and it do not go together.
verbs::Result<std::optional<verbs::uverbs::CqBuffer>> buffer_of(const verbs_create_cq_prov_attr *prov_attr,
                                                                uint32_t cmd_flags)
{
    using verbs::uverbs::CqBuffer;
    uint32_t kind = cmd_flags & (VERBS_CREATE_CQ_BUFFER_VA | VERBS_CREATE_CQ_BUFFER_DMABUF);
    if (kind == 0)
        return std::optional<CqBuffer>();
    if (prov_attr == nullptr)
        return verbs::Status(EINVAL);
    const auto &buffer = prov_attr->buffer;
    if (kind == VERBS_CREATE_CQ_BUFFER_VA)
        return std::optional<CqBuffer>({.length = buffer.length, .address = buffer.ptr});
    if (kind != VERBS_CREATE_CQ_BUFFER_DMABUF || buffer.dmabuf.fd < 0)
        return verbs::Status(EINVAL);
    return std::optional<CqBuffer>({.length = buffer.length,
                                    .address = nullptr,
                                    .dmabuf_fd = buffer.dmabuf.fd,
                                    .dmabuf_offset = buffer.dmabuf.offset});
}

}  // namespace

VERBS_EXPORT void verbs_init_cq(ibv_cq *cq, ibv_context *context, ibv_comp_channel *channel, void *cq_context)
{
    verbs::provider::cq_init(*cq, *context, channel, cq_context);
}
VERBS_EXPORT_SINCE_34(verbs_init_cq);

VERBS_EXPORT int ibv_cmd_create_cq(ibv_context *context, int cqe, ibv_comp_channel *comp_channel,
                                   int comp_vector, ibv_cq *cq, struct ibv_create_cq *cmd, size_t cmd_size,
                                   ib_uverbs_create_cq_resp *resp, size_t resp_size)
{
    int error = create(context,
                       {.user_handle = verbs::provider_api::user_handle(cq),
                        .cqe = static_cast<uint32_t>(cqe),
                        .comp_channel_fd = comp_channel != nullptr ? comp_channel->fd : -1,
                        .comp_vector = static_cast<uint32_t>(comp_vector),
                        .flags = 0,
                        .async_fd = context->async_fd},
                       *cq, verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (error == 0)
        verbs::provider_api::give_answer(resp, resp_size, answer(*cq));
    return error;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_cq);

VERBS_EXPORT int ibv_cmd_create_cq_ex(ibv_context *context, const ibv_cq_init_attr_ex *cq_attr,
                                      verbs_create_cq_prov_attr *prov_attr, verbs_cq *cq,
                                      struct ibv_create_cq_ex *cmd, size_t cmd_size,
                                      ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t cmd_flags)
{
    return ibv_cmd_create_cq_ex2(context, cq_attr, prov_attr, cq, cmd, cmd_size, resp, resp_size, cmd_flags,
                                 nullptr);
}
VERBS_EXPORT_SINCE_59(ibv_cmd_create_cq_ex);

VERBS_EXPORT int ibv_cmd_create_cq_ex2(ibv_context *context, const ibv_cq_init_attr_ex *cq_attr,
                                       verbs_create_cq_prov_attr *prov_attr, verbs_cq *cq,
                                       struct ibv_create_cq_ex *cmd, size_t cmd_size,
                                       ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
                                       uint32_t cmd_flags, ibv_command_buffer *driver)
{
    constexpr uint32_t kKnownMask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    if ((cq_attr->comp_mask & ~kKnownMask) != 0)
        return creation_error(EOPNOTSUPP);
    verbs::Result<std::optional<verbs::uverbs::CqBuffer>> buffer = buffer_of(prov_attr, cmd_flags);
    if (!buffer)
        return creation_error(buffer.error());

    uint32_t flags = 0;
    if ((cq_attr->wc_flags &
         (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)) != 0)
        flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
    if ((cq_attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
        (cq_attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0)
        flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
    int error = create(context,
                       {.user_handle = verbs::provider_api::user_handle(cq),
                        .cqe = cq_attr->cqe,
                        .comp_channel_fd = cq_attr->channel != nullptr ? cq_attr->channel->fd : -1,
                        .comp_vector = cq_attr->comp_vector,
                        .flags = flags,
                        .async_fd = context->async_fd,
                        .can_lose_timestamps = (cmd_flags & VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS) != 0,
                        .buffer = *buffer},
                       cq->cq, verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size), driver);
    if (error == 0)
        verbs::provider_api::give_answer(
            resp, resp_size, {.base = answer(cq->cq), .comp_mask = 0, .response_length = sizeof *resp});
    return error;
}
VERBS_EXPORT_SINCE_59(ibv_cmd_create_cq_ex2);

VERBS_EXPORT int ibv_cmd_resize_cq(ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
                                   ib_uverbs_resize_cq_resp *resp, size_t resp_size)
{
    verbs::Result<uint32_t> entries =
        verbs::uverbs::cq_resize(channel(cq->context), cq->handle, static_cast<uint32_t>(cqe),
                                 verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!entries)
        return entries.error();
    verbs::provider_api::give_answer(resp, resp_size, {.cqe = *entries, .reserved = 0});
    cq->cqe = static_cast<int>(*entries);
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_resize_cq);

VERBS_EXPORT int ibv_cmd_modify_cq(ibv_cq *cq, ibv_modify_cq_attr *attr, struct ibv_modify_cq *cmd,
                                   size_t cmd_size)
{
    if (attr->attr_mask >= IBV_CQ_ATTR_RESERVED)
        return EINVAL;
    return verbs::uverbs::cq_modify(channel(cq->context), cq->handle, *attr,
                                    verbs::provider_api::driver_data(cmd, cmd_size))
        .error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_modify_cq);

VERBS_EXPORT int ibv_cmd_poll_cq(ibv_cq *cq, int num_entries, ibv_wc *wc)
{
    if (num_entries < 0)
        return verbs::minus_one_with(EINVAL);
    verbs::Result<size_t> count =
        verbs::uverbs::cq_poll(channel(cq->context), cq->handle, {wc, static_cast<size_t>(num_entries)});
    return count ? static_cast<int>(*count) : verbs::minus_one_with(count.error());
}
VERBS_EXPORT_SINCE_34(ibv_cmd_poll_cq);

VERBS_EXPORT int ibv_cmd_req_notify_cq(ibv_cq *cq, int solicited_only)
{
    return verbs::uverbs::cq_request_notification(channel(cq->context), cq->handle, solicited_only != 0)
        .error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_req_notify_cq);

VERBS_EXPORT int ibv_cmd_destroy_cq(ibv_cq *cq)
{
    ib_uverbs_destroy_cq_resp response;
    verbs::Status status = verbs::uverbs::cq_destroy(channel(cq->context), cq->handle, response);
    if (!status)
        return verbs::provider_api::destroy_error(status);
    verbs::provider_api::wait_for_acknowledgements(cq->mutex, cq->cond, [&] {
        return cq->comp_events_completed == response.comp_events_reported &&
               cq->async_events_completed == response.async_events_reported;
    });
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_cq);
