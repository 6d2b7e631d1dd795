// SPDX-License-Identifier: BSD-2-Clause
// What processes need to import from each other: the file that stands for an open device, and objects by their handles.
#pragma once

#include <infiniband/verbs.h>
#include <net/if.h>

#include <cstdint>

#include "context.hh"
#include "shared/layout.hh"

namespace urxe {

/// What the file of an open device says. It is whose file this is that another process learns from it; what may be done
/// with that one's objects, the kernel says.
struct Export {
    uint64_t magic;     ///< shared::kMagic
    uint64_t instance;  ///< ProcessHeader::instance
    uint32_t slot;
    uint32_t context;  ///< number of the context
    char interface[IF_NAMESIZE];
};
static_assert(sizeof(Export) == 40);

/// A file without a name that nobody can change; -1 with errno.
int export_make(const Export &content);
/// 0, or EINVAL where the file is none of export_make(), of this release.
int export_read(int file, Export &content);

// Objects of the context that was exported, or of its own where a context is not imported. Null with errno: ENOENT where there is no
// such object, EINVAL where it is one of another kind, ESTALE where the process is gone. What they point to stays mapped while the
// context is open; any peer can write to it.

const shared::PdEntry *export_find_pd(const Context &context, uint32_t handle);
/// A region, no memory window.
shared::MrEntry *export_find_mr(const Context &context, uint32_t handle);
/// Device memory.
const shared::BufferEntry *export_find_dm(const Context &context, uint32_t handle);

}  // namespace urxe
