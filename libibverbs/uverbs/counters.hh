// SPDX-License-Identifier: BSD-2-Clause
// Commands for counters.
#pragma once

#include <span>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

// ioctl only: EPROTONOSUPPORT or ENOTTY on kernels that do not know the method.

/// Makes a set of counters; its kernel handle.
Result<uint32_t> counters_create(Channel &channel, ibv_command_buffer *driver);

/// Reads as many counters as `values` has room for. `flags`: enum ib_uverbs_read_counters_flags.
Status counters_read(Channel &channel, uint32_t handle, std::span<uint64_t> values, uint32_t flags,
                     ibv_command_buffer *driver);
Status counters_destroy(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
