// SPDX-License-Identifier: BSD-2-Clause
// Commands for flow steering.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

/// Makes a flow of `attr` and the specifications behind it; its kernel handle. EINVAL: a specification is none or is
/// too short. EOPNOTSUPP: one has what this interface cannot express.
Result<uint32_t> flow_create(Channel &channel, uint32_t qp_handle, const ibv_flow_attr &attr,
                             const DriverData &driver);
Status flow_destroy(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
