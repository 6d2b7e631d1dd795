// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory regions.
#pragma once

#include <infiniband/verbs.h>

#include <optional>
#include <span>

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

/// Memory of this process, or of a dma-buf where `dmabuf_fd` is there, and a DMA handle where it is.
struct MrExRequest {
    uint32_t pd_handle;
    uint64_t start;  ///< address in this process, or offset in the dma-buf
    uint64_t length;
    uint64_t iova;
    uint32_t access;
    std::optional<int> dmabuf_fd;
    std::optional<uint32_t> dmah_handle;
};

/// A kernel that does not know the method has others, but none for DMA handles: EPROTONOSUPPORT or ENOTTY
/// then.
Result<MrInfo> mr_register_ex(Channel &channel, const MrExRequest &request);

/// Memory of a device as a region of it.
struct DmMrRequest {
    uint32_t pd_handle;
    uint32_t dm_handle;
    uint64_t offset;  ///< in the device memory
    uint64_t length;  ///< bytes
    uint32_t access;  ///< enum ib_uverbs_access_flags, with ZERO_BASED
};

/// Memory of a dma-buf.
struct DmabufMrRequest {
    uint32_t pd_handle;
    int fd;
    uint64_t offset;  ///< in the dma-buf
    uint64_t length;  ///< bytes
    uint64_t iova;    ///< address that work requests name
    uint32_t access;  ///< enum ib_uverbs_access_flags
};

/// What is known of a region that another process registered.
struct MrDescription {
    uint32_t lkey = 0;
    uint32_t rkey = 0;
    uint64_t length = 0;
};

// ioctl only: EPROTONOSUPPORT or ENOTTY on kernels that do not know the method.

Result<MrInfo> mr_register_dm(Channel &channel, const DmMrRequest &request, ibv_command_buffer *driver);
Result<MrInfo> mr_register_dmabuf(Channel &channel, const DmabufMrRequest &request,
                                  ibv_command_buffer *driver);
Result<MrDescription> mr_query(Channel &channel, uint32_t handle);

/// `advice`: enum ib_uverbs_advise_mr_advice; `flags`: enum ib_uverbs_advise_mr_flag.
Status mr_advise(Channel &channel, uint32_t pd_handle, uint32_t advice, uint32_t flags,
                 std::span<const ibv_sge> sges);

Status mr_deregister(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
