// SPDX-License-Identifier: BSD-2-Clause
// Device memory: there is no device, so it is memory that peers map.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "buffers.hh"
#include "shared/layout.hh"

namespace urxe {

/// Bytes that one allocation may have: programs take what the device says that it has.
constexpr uint64_t kMaxDm = uint64_t{64} << 20;

struct Dm {
    verbs_dm verbs;  // must be first
    uintptr_t address;
    uint64_t length;
    Buffer *memory;  ///< null: it is imported
    // Of an imported one.
    const shared::BufferEntry *exported;
    BufferMapping mapping;
    uint32_t references;  ///< of the program, and of each region of it; the last unmaps it
};

inline Dm &to_dm(ibv_dm *dm)
{
    return *reinterpret_cast<Dm *>(dm);
}

ibv_dm *dm_alloc(ibv_context *context, ibv_alloc_dm_attr *attr);
/// Imported memory is its maker's alone to free: EOPNOTSUPP.
int dm_free(ibv_dm *dm);
ibv_dm *dm_import(ibv_context *context, uint32_t handle);
/// Does nothing to memory that was not imported.
void dm_unimport(ibv_dm *dm);

/// Counts a region of imported memory.
void dm_ref(Dm &dm);
void dm_unref(Dm &dm);

}  // namespace urxe
