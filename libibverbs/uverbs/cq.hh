// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion queues.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <optional>
#include <span>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

/// Memory for the entries of a queue, in place of the driver's: of this process, or of a dma-buf.
struct CqBuffer {
    uint64_t length;  ///< bytes
    const void *address;
    int dmabuf_fd = -1;  ///< -1: the memory at `address`
    uint64_t dmabuf_offset = 0;
};

struct CqRequest {
    uint64_t user_handle;  ///< comes back in events
    uint32_t cqe;          ///< wanted number of entries
    int comp_channel_fd;   ///< -1 for none
    uint32_t comp_vector;
    uint32_t flags;                    ///< enum ib_uverbs_ex_create_cq_flags
    int async_fd;                      ///< the context's, where events of the queue go
    bool can_lose_timestamps = false;  ///< a kernel that needs another command for them may leave them out
    std::optional<CqBuffer> buffer = std::nullopt;
};

struct CqInfo {
    uint32_t handle = 0;
    uint32_t cqe = 0;  ///< entries that there are
};

/// `attributes` are what only the ioctl can carry; null for none. With those or a buffer: EPROTONOSUPPORT or
/// ENOTTY on kernels that do not know the method.
Result<CqInfo> cq_create(Channel &channel, const CqRequest &request, const DriverData &driver,
                         ibv_command_buffer *attributes = nullptr);

/// Changes the number of entries; the number that there are now.
Result<uint32_t> cq_resize(Channel &channel, uint32_t handle, uint32_t cqe, const DriverData &driver);

/// Sets the moderation of completion events where attr.attr_mask (enum ibv_cq_attr_mask) asks for it.
Status cq_modify(Channel &channel, uint32_t handle, const ibv_modify_cq_attr &attr, const DriverData &driver);

/// Takes completions off the queue, as many as `completions` has room for; their number.
Result<size_t> cq_poll(Channel &channel, uint32_t handle, std::span<ibv_wc> completions);

/// Arms the queue for the next completion, or the next solicited one.
Status cq_request_notification(Channel &channel, uint32_t handle, bool solicited_only);

/// The response counts the events that were reported and that the program has to acknowledge.
Status cq_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_cq_resp &response);

}  // namespace verbs::uverbs
