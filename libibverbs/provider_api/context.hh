// SPDX-License-Identifier: BSD-2-Clause
// What the functions for contexts share, whatever the layout of the verbs_context that they are given.
#pragma once

#include <infiniband/driver.h>

#include <cstdarg>
#include <span>

namespace verbs::provider_api {

/// ibv_cmd_get_context.
int context_get(ibv_context &context, struct ibv_get_context *cmd, size_t cmd_size,
                std::span<const int> files, ib_uverbs_get_context_resp *resp, size_t resp_size);

/// What ibv_cmd_get_context is given for files.
inline std::span<const int> files_of(const ibv_fd_arr *fds)
{
    return fds != nullptr ? std::span<const int>(fds->arr, fds->count) : std::span<const int>();
}

/// __verbs_log; no context where there is none yet.
void context_log(const ibv_context *context, uint32_t level, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

}  // namespace verbs::provider_api
