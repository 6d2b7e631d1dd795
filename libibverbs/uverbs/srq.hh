// SPDX-License-Identifier: BSD-2-Clause
// Commands for shared receive queues.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <optional>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

struct SrqRequest {
    uint64_t user_handle;  ///< comes back in events
    uint32_t pd_handle;
    uint32_t max_wr;
    uint32_t max_sge;
    uint32_t srq_limit;
    int async_fd;  ///< the context's, where events of the queue go
    ibv_srq_type type = IBV_SRQT_BASIC;
    std::optional<uint32_t> xrcd_handle{};   ///< of an XRC queue
    std::optional<uint32_t> cq_handle{};     ///< of an XRC or tag-matching queue: where receives complete
    std::optional<uint32_t> max_num_tags{};  ///< of a tag-matching queue
};

struct SrqInfo {
    uint32_t handle = 0;
    uint32_t max_wr = 0;
    uint32_t max_sge = 0;
    uint32_t srq_num = 0;  ///< of an XRC queue: by which peers know it
};

Result<SrqInfo> srq_create(Channel &channel, const SrqRequest &request, const DriverData &driver);

/// Changes what `attr_mask` (enum ibv_srq_attr_mask) names.
Status srq_modify(Channel &channel, uint32_t handle, const ibv_srq_attr &attr, int attr_mask,
                  const DriverData &driver);
Result<ibv_srq_attr> srq_query(Channel &channel, uint32_t handle, const DriverData &driver);

/// The response counts the events that were reported and that the program has to acknowledge.
Status srq_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_srq_resp &response);

}  // namespace verbs::uverbs
