// SPDX-License-Identifier: BSD-2-Clause
// Protection domains.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

namespace urxe {

struct Pd {
    ibv_pd pd;                    // must be first
    uint32_t number;              ///< known to peers, unique in the process
    std::atomic<uint32_t> users;  ///< objects that belong to it
};

inline Pd &to_pd(ibv_pd *pd)
{
    return *reinterpret_cast<Pd *>(pd);
}

ibv_pd *pd_alloc(ibv_context *context);
int pd_dealloc(ibv_pd *pd);

}  // namespace urxe
