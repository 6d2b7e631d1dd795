// SPDX-License-Identifier: BSD-2-Clause
// Commands for work queues.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

struct WqRequest {
    uint64_t user_handle;  ///< comes back in events
    uint32_t type;         ///< enum ibv_wq_type
    uint32_t pd_handle;
    uint32_t cq_handle;
    uint32_t max_wr;
    uint32_t max_sge;
    uint32_t flags;  ///< enum ib_uverbs_wq_flags
    int async_fd;    ///< the context's, where events of the queue go
};

struct WqInfo {
    uint32_t handle = 0;
    uint32_t wq_num = 0;
    uint32_t max_wr = 0;  ///< sizes that there are
    uint32_t max_sge = 0;
};

Result<WqInfo> wq_create(Channel &channel, const WqRequest &request, const DriverData &driver);

/// Changes what attr.attr_mask (enum ibv_wq_attr_mask) names.
Status wq_modify(Channel &channel, uint32_t handle, const ibv_wq_attr &attr, const DriverData &driver);

/// Sets events_reported to the number of events that the program has to acknowledge.
Status wq_destroy(Channel &channel, uint32_t handle, uint32_t &events_reported);

}  // namespace verbs::uverbs
