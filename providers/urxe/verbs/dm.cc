// SPDX-License-Identifier: BSD-2-Clause
// Allocating device memory, and what the program itself copies to and from it.
#include "verbs/dm.hh"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/memory.hh"
#include "context.hh"

namespace urxe {
namespace {

/// Where a range of it is; null: outside.
void *find_range(ibv_dm *dm, uint64_t offset, size_t length)
{
    const Dm &found = to_dm(dm);
    if (offset > found.length || length > found.length - offset)
        return nullptr;
    return reinterpret_cast<void *>(found.memory->address + offset);
}

int copy_to(ibv_dm *dm, uint64_t offset, const void *memory, size_t length)
{
    void *to = find_range(dm, offset, length);
    if (to == nullptr)
        return EINVAL;
    if (length != 0)
        std::memcpy(to, memory, length);
    return 0;
}

int copy_from(void *memory, ibv_dm *dm, uint64_t offset, size_t length)
{
    const void *from = find_range(dm, offset, length);
    if (from == nullptr)
        return EINVAL;
    if (length != 0)
        std::memcpy(memory, from, length);
    return 0;
}

}  // namespace

ibv_dm *dm_alloc(ibv_context *context, ibv_alloc_dm_attr *attr)
{
    // It begins with a page, which is as much alignment as there is.
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    if (attr->comp_mask != 0 || attr->length == 0 ||
        attr->log_align_req >= static_cast<unsigned>(std::bit_width(page)))
        return common::null_with(EINVAL);
    if (attr->length > kMaxDm)
        return common::null_with(ENOMEM);
    Process &process = process_of(*context);
    auto made = common::allocate<Dm>();
    if (!made)
        return nullptr;
    made->memory = process.buffers.make(process, attr->length);
    if (made->memory == nullptr)
        return nullptr;
    made->length = attr->length;
    made->verbs.dm.context = context;
    made->verbs.dm.memcpy_to_dm = copy_to;
    made->verbs.dm.memcpy_from_dm = copy_from;
    return &made.release()->verbs.dm;
}

int dm_free(ibv_dm *dm)
{
    Process &process = process_of(*dm->context);
    // Regions of it are the other references.
    if (!process.buffers.release_last(process, *to_dm(dm).memory))
        return EBUSY;
    std::free(&to_dm(dm));
    return 0;
}

}  // namespace urxe
