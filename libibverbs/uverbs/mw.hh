// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory windows.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

struct MwInfo {
    uint32_t handle = 0;
    uint32_t rkey = 0;
};

Result<MwInfo> mw_alloc(Channel &channel, uint32_t pd_handle, ibv_mw_type type, const DriverData &driver);
Status mw_dealloc(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
