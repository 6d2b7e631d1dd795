// SPDX-License-Identifier: BSD-2-Clause
// Commands for indirection tables of receive work queues.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

struct RwqIndTableInfo {
    uint32_t handle = 0;
    uint32_t number = 0;  ///< by which the device knows the table
};

/// Makes a table of the 2^log_size queues in `wqs`. EINVAL: larger than the kernel has them.
Result<RwqIndTableInfo> rwq_ind_table_create(Channel &channel, const ibv_wq *const *wqs, uint32_t log_size,
                                             const DriverData &driver);
Status rwq_ind_table_destroy(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
