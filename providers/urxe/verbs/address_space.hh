// SPDX-License-Identifier: BSD-2-Clause
// What of the process's address space may be read and written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urxe {

/// Has the kernel bring the pages of a range in, as if they were pinned. 0, or EFAULT where some of it is not there or,
/// if `writable`, may not be written.
int bring_in(uintptr_t address, size_t length, bool writable);

/// A part of a file in the address space.
struct Mapping {
    void *start;
    size_t size;        ///< from start, for munmap()
    uintptr_t address;  ///< of the first byte that was asked for
    bool may_shrink;    ///< the file may lose its end, and memory that was there with it
};

/// Maps a range of a file that peers can reach, too: read-only, unless `writable`. 0 or a positive errno value.
int map_file(int file, uint64_t offset, size_t length, bool writable, Mapping &mapping);

}  // namespace urxe
