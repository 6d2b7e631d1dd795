// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory regions.
#pragma once

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

/// A memory region as the kernel knows it.
struct MrInfo {
    uint32_t handle = 0;
    uint32_t lkey = 0;
    uint32_t rkey = 0;
};

/// Memory of this process and how the device sees it.
struct MrRequest {
    uint32_t pd_handle;
    uint64_t start;   ///< address in this process
    uint64_t length;  ///< bytes
    uint64_t iova;    ///< address that work requests name
    uint32_t access;  ///< enum ib_uverbs_access_flags
};

Result<MrInfo> mr_register(Channel &channel, const MrRequest &request, const DriverData &driver);

/// Changes what `flags` (enum ib_uverbs_rereg_mr_flags) name; the keys may change. The handle stays.
Result<MrInfo> mr_reregister(Channel &channel, uint32_t handle, uint32_t flags, const MrRequest &request,
                             const DriverData &driver);
Status mr_deregister(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
