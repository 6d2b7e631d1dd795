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
#include "exports.hh"

namespace urxe {
namespace {

/// Where a range of it is; null: outside, or its maker has freed it.
void *find_range(ibv_dm *dm, uint64_t offset, size_t length)
{
    const Dm &found = to_dm(dm);
    if (offset > found.length || length > found.length - offset)
        return nullptr;
    // Its pages are still there even then, but nobody else has them.
    if (found.memory == nullptr && found.exported->generation.load() != found.mapping.generation.load())
        return nullptr;
    return reinterpret_cast<void *>(found.address + offset);
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
    made->address = made->memory->address;
    made->length = attr->length;
    made->verbs.dm.handle = shared::kDmHandle | made->memory->index;
    shared::BufferEntry &entry = *process.entry(process.header().buffers, made->memory->index);
    entry.dm_context = to_context(context)->number;
    entry.dm_length.store(attr->length, std::memory_order_release);
    made->verbs.dm.context = context;
    made->verbs.dm.memcpy_to_dm = copy_to;
    made->verbs.dm.memcpy_from_dm = copy_from;
    return &made.release()->verbs.dm;
}

int dm_free(ibv_dm *dm)
{
    Process &process = process_of(*dm->context);
    Dm &freed = to_dm(dm);
    if (freed.memory == nullptr)
        return EOPNOTSUPP;
    // Regions of it are the other references.
    if (!process.buffers.release_last(process, *freed.memory))
        return EBUSY;
    std::free(&freed);
    return 0;
}

ibv_dm *dm_import(ibv_context *context, uint32_t handle)
{
    const Context &importer = *to_context(context);
    const shared::BufferEntry *entry = export_find_dm(importer, handle);
    auto made = entry == nullptr ? nullptr : common::allocate<Dm>();
    if (!made)
        return nullptr;
    Dm &dm = *made;
    dm.exported = entry;
    dm.length = entry->dm_length.load();
    if (const int error = map_buffer(*importer.exporter, *entry, dm.mapping); error != 0) {
        __verbs_log(verbs_get_ctx(context), VERBS_LOG_WARN,
                    "urxe: device memory of process %u cannot be mapped: %s", importer.exporter->pid,
                    strerrordesc_np(error));
        return common::null_with(error);
    }
    if (dm.length == 0 || dm.length > dm.mapping.size) {
        unmap_buffer(dm.mapping);
        return common::null_with(ENOENT);
    }
    dm.address = reinterpret_cast<uintptr_t>(dm.mapping.address);
    dm.references = 1;
    dm.verbs.dm.context = context;
    dm.verbs.dm.handle = handle;
    dm.verbs.dm.memcpy_to_dm = copy_to;
    dm.verbs.dm.memcpy_from_dm = copy_from;
    return &made.release()->verbs.dm;
}

void dm_unimport(ibv_dm *dm)
{
    if (to_dm(dm).memory == nullptr)
        dm_unref(to_dm(dm));
}

void dm_ref(Dm &dm)
{
    std::atomic_ref(dm.references).fetch_add(1, std::memory_order_relaxed);
}

void dm_unref(Dm &dm)
{
    if (std::atomic_ref(dm.references).fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    unmap_buffer(dm.mapping);
    std::free(&dm);
}

}  // namespace urxe
