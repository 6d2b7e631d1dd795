// SPDX-License-Identifier: BSD-2-Clause
// Device memory: there is no device, so it is memory that peers map.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "buffers.hh"

namespace urxe {

/// Bytes that one allocation may have: programs take what the device says that it has.
constexpr uint64_t kMaxDm = uint64_t{64} << 20;

struct Dm {
    verbs_dm verbs;  // must be first
    Buffer *memory;
    uint64_t length;
};

inline Dm &to_dm(ibv_dm *dm)
{
    return *reinterpret_cast<Dm *>(dm);
}

ibv_dm *dm_alloc(ibv_context *context, ibv_alloc_dm_attr *attr);
int dm_free(ibv_dm *dm);

}  // namespace urxe
