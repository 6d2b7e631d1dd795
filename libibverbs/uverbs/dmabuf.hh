// SPDX-License-Identifier: BSD-2-Clause
// Commands for dma-bufs of a device's own memory.
#pragma once

#include "base/result.hh"
#include "base/unique_fd.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

/// A dma-buf of what mmap of the device's file gives at page `page_offset`. ioctl only: EPROTONOSUPPORT or
/// ENOTTY on kernels that do not know the method.
Result<UniqueFd> dmabuf_export(Channel &channel, uint64_t page_offset);

}  // namespace verbs::uverbs
