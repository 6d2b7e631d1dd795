// SPDX-License-Identifier: BSD-2-Clause
// Commands for address handles.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

/// Makes an address handle; its kernel handle.
Result<uint32_t> ah_create(Channel &channel, uint64_t user_handle, uint32_t pd_handle,
                           const ibv_ah_attr &attr, const DriverData &driver);
Status ah_destroy(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
