// SPDX-License-Identifier: BSD-2-Clause
// Commands for DMA handles.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

/// Hints for the device's accesses; those that are not there are the device's choice.
struct DmahRequest {
    std::optional<uint32_t> cpu_id;
    std::optional<uint8_t> processing_hint;  ///< 2 bits
    std::optional<uint8_t> memory_type;      ///< enum ibv_tph_mem_type
};

// ioctl only: EPROTONOSUPPORT or ENOTTY on kernels that do not know the method.

/// Makes a handle; the kernel's number of it.
Result<uint32_t> dmah_alloc(Channel &channel, const DmahRequest &request);
Status dmah_free(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
