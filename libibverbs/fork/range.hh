// SPDX-License-Identifier: BSD-2-Clause
// Fork protection: memory that a device uses is kept out of children, so that a fork does not move it.
#pragma once

#include <cstddef>

#include "base/result.hh"

namespace verbs::fork {

enum class State {
    kDisabled,  ///< nobody asked for protection: ranges are not tracked
    kEnabled,   ///< pages of tracked ranges are withheld from children
    kUnneeded,  ///< the kernel copies such pages for the child when it forks
};

/// Turns protection on, unless the kernel makes it needless or it is on already. EINVAL when memory was
/// registered before: that memory is unprotected for good. Any thread.
Status enable();

/// What `enable` came to so far.
State state();

/// The first time, calls `enable` if the environment asks for it (IBV_FORK_SAFE or RDMAV_FORK_SAFE), and logs why
/// it failed. The library calls this before it gives out devices.
void enable_from_environment();

/// Counts a use of each page that holds a byte of the range; pages that had none are withheld from children.
/// On failure nothing is counted or withheld. Without protection it does nothing. Any thread.
Status dontfork_range(void *address, size_t length);

/// Undoes one `dontfork_range` of the same range: pages whose last use this was are given to children again.
Status dofork_range(void *address, size_t length);

}  // namespace verbs::fork
