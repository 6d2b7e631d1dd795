// SPDX-License-Identifier: BSD-2-Clause
// Commands for device memory.
#pragma once

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

// ioctl only: EPROTONOSUPPORT or ENOTTY on kernels that do not know the method.

/// Allocates `length` bytes, aligned to 2^log_alignment; the kernel handle.
Result<uint32_t> dm_alloc(Channel &channel, uint64_t length, uint32_t log_alignment,
                          ibv_command_buffer *driver);
Status dm_free(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
