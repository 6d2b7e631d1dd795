// SPDX-License-Identifier: BSD-2-Clause
// Commands for protection domains.
#pragma once

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

/// Makes a protection domain; its handle.
Result<uint32_t> pd_alloc(Channel &channel, const DriverData &driver);
Status pd_dealloc(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
