// SPDX-License-Identifier: BSD-2-Clause
// The file that stands for an open device, and finding exported objects.
#include "exports.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/memory.hh"

namespace urxe {
namespace {

using shared::BufferEntry;
using shared::MrEntry;
using shared::PdEntry;

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

const PdEntry *find_pd(const Context &context, uint32_t handle)
{
    const shared::Heap &heap = context.exporter->heap;
    const PdEntry *entry = (handle & shared::kPdHandle) == 0
                               ? nullptr
                               : heap.entry(heap.header().pds, shared::index_of_pd(handle));
    return entry != nullptr && entry->number.load(std::memory_order_acquire) == handle &&
                   entry->context == context.exported_number
               ? entry
               : nullptr;
}

MrEntry *find_mr(const Context &context, uint32_t handle)
{
    const shared::Heap &heap = context.exporter->heap;
    MrEntry *entry = handle >= shared::kFirstForeignMr ? nullptr : heap.entry(heap.header().regions, handle);
    return entry != nullptr && entry->key.load(std::memory_order_acquire) != 0 &&
                   entry->context == context.exported_number && !shared::is_window(entry->kind)
               ? entry
               : nullptr;
}

const BufferEntry *find_dm(const Context &context, uint32_t handle)
{
    const shared::Heap &heap = context.exporter->heap;
    const BufferEntry *entry = (handle & shared::kDmHandle) == 0
                                   ? nullptr
                                   : heap.entry(heap.header().buffers, handle & ~shared::kDmHandle);
    return entry != nullptr && entry->dm_length.load(std::memory_order_acquire) != 0 &&
                   entry->dm_context == context.exported_number
               ? entry
               : nullptr;
}

/// What was found, or null with the reason why not.
template <class Entry>
Entry *answer(const Context &context, uint32_t handle, Entry *found)
{
    const Peer &exporter = *context.exporter;
    if (!exporter.is_self && (exporter.is_dead.load() || exporter.heap.header().is_closed.load() != 0))
        return common::null_with(ESTALE);
    if (found != nullptr)
        return found;
    const bool is_another = find_pd(context, handle) != nullptr || find_mr(context, handle) != nullptr ||
                            find_dm(context, handle) != nullptr;
    return common::null_with(is_another ? EINVAL : ENOENT);
}

}  // namespace

int export_make(const Export &content)
{
    const int file = memfd_create("urxe-device", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    int error = 0;
    if (const ssize_t written = write(file, &content, sizeof content); written != sizeof content)
        error = written < 0 ? errno : ENOSPC;
    else if (fcntl(file, F_ADD_SEALS, kSeals) != 0)
        error = errno;
    if (error == 0)
        return file;
    close(file);
    errno = error;
    return -1;
}

int export_read(int file, Export &content)
{
    struct stat stat;
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & kSeals) != kSeals || fstat(file, &stat) != 0 ||
        stat.st_size != sizeof content || pread(file, &content, sizeof content, 0) != sizeof content ||
        content.magic != shared::kMagic || content.interface[sizeof content.interface - 1] != '\0')
        return EINVAL;
    return 0;
}

const PdEntry *export_find_pd(const Context &context, uint32_t handle)
{
    return answer(context, handle, find_pd(context, handle));
}

MrEntry *export_find_mr(const Context &context, uint32_t handle)
{
    return answer(context, handle, find_mr(context, handle));
}

const BufferEntry *export_find_dm(const Context &context, uint32_t handle)
{
    return answer(context, handle, find_dm(context, handle));
}

}  // namespace urxe
