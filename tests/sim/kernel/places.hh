// SPDX-License-Identifier: BSD-2-Clause
// Which place in Object::holds keeps what.
#pragma once

#include <cstddef>

namespace sim {

enum Place : size_t {
    kPdPlace,
    kCqPlace,  ///< a queue pair's send queue, or the only one
    kRecvCqPlace,
    kSrqPlace,
    kXrcdPlace,
    kOtherPlace,  ///< RWQ table, device memory, DMA handle, queue pair of a flow
};

}  // namespace sim
