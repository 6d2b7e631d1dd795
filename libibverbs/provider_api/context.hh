// SPDX-License-Identifier: BSD-2-Clause
// What the functions for contexts share, whatever the layout of the verbs_context that they are given.
#pragma once

#include <infiniband/driver.h>

#include <cstdarg>
#include <span>

#include "provider/layouts/layout.hh"

namespace verbs::provider_api {

/// _verbs_init_and_alloc_context for a verbs_context of the layout, which lies at `offset` in the memory.
void *context_alloc(const provider::Layout &layout, ibv_device &device, int cmd_fd, size_t size,
                    size_t offset, uint32_t driver_id);

/// ibv_cmd_get_context.
int context_get(ibv_context &context, struct ibv_get_context *cmd, size_t cmd_size,
                std::span<const int> files, ib_uverbs_get_context_resp *resp, size_t resp_size);

/// __verbs_log; no context where there is none yet.
void context_log(const ibv_context *context, uint32_t level, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

}  // namespace verbs::provider_api
