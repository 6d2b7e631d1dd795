// SPDX-License-Identifier: BSD-2-Clause
// Which changes of a queue pair's state and attributes are allowed (IBTA 11.2.5.2, table 92).
#pragma once

#include <cstdint>

namespace sim {

/// Whether a queue pair of this type (IB_UVERBS_QPT_*) may go from one state (IBV_QPS_*) to another while
/// `mask` (IBV_QP_*) names the attributes that are set.
bool is_allowed_change(uint32_t type, uint32_t from, uint32_t to, uint32_t mask);

}  // namespace sim
