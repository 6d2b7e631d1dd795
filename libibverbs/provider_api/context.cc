// SPDX-License-Identifier: BSD-2-Clause
// For providers: setting a context up and taking it down, its ops, its log.
#include "provider_api/context.hh"

#include "base/export.hh"
#include "base/log.hh"
#include "base/memory.hh"
#include "provider/context.hh"
#include "provider/ops.hh"
#include "provider/registry.hh"
#include "provider_api/command.hh"
#include "uverbs/context.hh"

using verbs::provider::channel;
using verbs::provider::Layout;

namespace verbs::provider_api {

int context_get(ibv_context &context, struct ibv_get_context *cmd, size_t cmd_size,
                std::span<const int> files, ib_uverbs_get_context_resp *resp, size_t resp_size)
{
    Result<uverbs::ContextInfo> info =
        uverbs::context_get(channel(&context), driver_data(cmd, cmd_size, resp, resp_size), files);
    if (!info)
        return creation_error(info.error());
    give_answer(resp, resp_size,
                {.async_fd = static_cast<uint32_t>(info->async_fd.get()),
                 .num_comp_vectors = info->num_comp_vectors});
    context.async_fd = info->async_fd.release();
    context.num_comp_vectors = static_cast<int>(info->num_comp_vectors);
    // The same for all contexts of the device, which others may be reading.
    __atomic_store_n(&verbs_get_device(context.device)->core_support, info->core_support, __ATOMIC_RELAXED);
    return 0;
}

void context_log(const ibv_context *context, uint32_t level, const char *format, va_list args)
{
    auto at = static_cast<LogLevel>(level);
    if (!log_enabled(at))
        return;
    char text[768];
    vsnprintf(text, sizeof text, format, args);
    log(at, "%s: %s", context != nullptr ? context->device->name : "provider", text);
}

}  // namespace verbs::provider_api

VERBS_EXPORT void *_verbs_init_and_alloc_context(ibv_device *device, int cmd_fd, size_t alloc_size,
                                                 verbs_context *context_offset, uint32_t driver_id)
{
    verbs::UniqueFd owned_fd(cmd_fd);
    verbs::Allocated<char> memory(static_cast<char *>(std::calloc(1, alloc_size)));
    if (!memory)
        return verbs::null_with(ENOMEM);
    const Layout &layout = verbs::provider::layout_of(*verbs_get_device(device)->ops);
    ibv_context *context =
        verbs::provider::public_context(layout, memory.get() + reinterpret_cast<uintptr_t>(context_offset));
    if (verbs::Status status =
            verbs::provider::context_init(*context, layout, *device, owned_fd.release(), driver_id);
        !status)
        return verbs::null_with(status.error());
    return memory.release();
}
VERBS_EXPORT_SINCE_34(_verbs_init_and_alloc_context);

VERBS_EXPORT void verbs_uninit_context(verbs_context *vctx)
{
    verbs::provider::context_uninit(vctx->context);
}

VERBS_EXPORT void verbs_set_ops(verbs_context *vctx, const verbs_context_ops *ops)
{
    verbs::provider::set_ops(*vctx, *ops);
}

VERBS_EXPORT int ibv_cmd_get_context(verbs_context *vctx, struct ibv_get_context *cmd, size_t cmd_size,
                                     ibv_fd_arr *fds, ib_uverbs_get_context_resp *resp, size_t resp_size)
{
    return verbs::provider_api::context_get(vctx->context, cmd, cmd_size, verbs::provider_api::files_of(fds),
                                            resp, resp_size);
}

VERBS_EXPORT void __verbs_log(verbs_context *ctx, uint32_t level, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    verbs::provider_api::context_log(ctx != nullptr ? &ctx->context : nullptr, level, fmt, args);
    va_end(args);
}
