// SPDX-License-Identifier: BSD-2-Clause
// What of the process's address space may be read and written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urxe {

/// Has the kernel bring the pages of a range in, as if they were pinned. 0, or EFAULT where some of it is not there or,
/// if `writable`, may not be written.
int bring_in(uintptr_t address, size_t length, bool writable);

}  // namespace urxe
