// SPDX-License-Identifier: BSD-2-Clause
// For providers: setting a context up and taking it down, its ops, its log.
#include <infiniband/driver.h>

#include <cstdarg>

#include "base/export.hh"
#include "base/log.hh"
#include "base/memory.hh"
#include "provider/context.hh"
#include "provider/ops.hh"
#include "provider_api/command.hh"
#include "uverbs/context.hh"

using verbs::provider::channel;

VERBS_EXPORT void *_verbs_init_and_alloc_context(ibv_device *device, int cmd_fd, size_t alloc_size,
                                                 verbs_context *context_offset, uint32_t driver_id)
{
    verbs::UniqueFd owned_fd(cmd_fd);
    verbs::Allocated<char> memory(static_cast<char *>(std::calloc(1, alloc_size)));
    if (!memory)
        return verbs::null_with(ENOMEM);
    auto *vctx =
        reinterpret_cast<verbs_context *>(memory.get() + reinterpret_cast<uintptr_t>(context_offset));
    if (verbs::Status status = verbs::provider::context_init(*vctx, *device, owned_fd.release(), driver_id);
        !status)
        return verbs::null_with(status.error());
    return memory.release();
}

VERBS_EXPORT void verbs_uninit_context(verbs_context *vctx)
{
    verbs::provider::context_uninit(*vctx);
}

VERBS_EXPORT void verbs_set_ops(verbs_context *vctx, const verbs_context_ops *ops)
{
    verbs::provider::set_ops(*vctx, *ops);
}

VERBS_EXPORT int ibv_cmd_get_context(verbs_context *vctx, struct ibv_get_context *cmd, size_t cmd_size,
                                     ibv_fd_arr * /*fds*/, ib_uverbs_get_context_resp *resp, size_t resp_size)
{
    ibv_context &context = vctx->context;
    verbs::Result<verbs::uverbs::ContextInfo> info = verbs::uverbs::context_get(
        channel(&context), verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return info.error();
    context.async_fd = info->async_fd.release();
    context.num_comp_vectors = static_cast<int>(info->num_comp_vectors);
    verbs_get_device(context.device)->core_support = info->core_support;
    return 0;
}

VERBS_EXPORT void __verbs_log(verbs_context *ctx, uint32_t level, const char *fmt, ...)
{
    auto at = static_cast<verbs::LogLevel>(level);
    if (!verbs::log_enabled(at))
        return;
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    verbs::log(at, "%s: %s", ctx != nullptr ? ctx->context.device->name : "provider", text);
}
