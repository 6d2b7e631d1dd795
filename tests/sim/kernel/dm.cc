// SPDX-License-Identifier: BSD-2-Clause
// Device memory, DMA handles, and dma-bufs of what a device maps.
#include "interpose/descriptors.hh"
#include "interpose/real.hh"
#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/methods.hh"

namespace sim {
namespace {

constexpr Attribute kAlloc[] = {
    {UVERBS_ATTR_ALLOC_DM_HANDLE, "dm_handle", Kind::kNew, UVERBS_OBJECT_DM},
    {UVERBS_ATTR_ALLOC_DM_LENGTH, "length", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_ALLOC_DM_ALIGNMENT, "alignment", Kind::kIn, 0, 4, 4},
};

int alloc_dm(Call &call)
{
    const auto length = call.in<uint64_t>(UVERBS_ATTR_ALLOC_DM_LENGTH);
    const uint64_t room = call.device().attributes.max_dm_size;
    if (room == 0)
        return EOPNOTSUPP;
    uint64_t used = 0;
    for (uint32_t place = 0; place < call.state().end; ++place) {
        const Object *object = call.file().find_any(place);
        if (object != nullptr && object->kind == UVERBS_OBJECT_DM)
            used += object->length;
    }
    if (length == 0)
        return EINVAL;
    if (length > room - used)
        return ENOMEM;
    uint32_t handle = 0;
    Object *dm = call.file().add(UVERBS_OBJECT_DM, handle);
    if (dm == nullptr)
        return ENOMEM;
    dm->length = length;
    dm->mmap_offset = call.file().allocate_range(length);
    dm->mmap_size = length;
    call.set_new(UVERBS_ATTR_ALLOC_DM_HANDLE, handle);
    driver_other(call);
    return 0;
}

constexpr Attribute kFree[] = {{UVERBS_ATTR_FREE_DM_HANDLE, "dm_handle", Kind::kDestroyed, UVERBS_OBJECT_DM}};

int free_dm(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_DM, call.handle(UVERBS_ATTR_FREE_DM_HANDLE));
}

constexpr Attribute kAllocDmah[] = {
    {UVERBS_ATTR_ALLOC_DMAH_HANDLE, "dmah_handle", Kind::kNew, UVERBS_OBJECT_DMAH},
    {UVERBS_ATTR_ALLOC_DMAH_CPU_ID, "cpu_id", Kind::kIn, 0, 4, 4, false},
    {UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, "tph_mem_type", Kind::kConst, 0, 0, 0, false},
    {UVERBS_ATTR_ALLOC_DMAH_PH, "ph", Kind::kIn, 0, 1, 1, false},
};

int alloc_dmah(Call &call)
{
    const bool has_cpu = call.has(UVERBS_ATTR_ALLOC_DMAH_CPU_ID);
    if (has_cpu != call.has(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE))
        return EINVAL;
    if (call.constant(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE) > 1 ||
        call.in<uint8_t>(UVERBS_ATTR_ALLOC_DMAH_PH) > 3)
        return EINVAL;
    if (has_cpu && call.in<uint32_t>(UVERBS_ATTR_ALLOC_DMAH_CPU_ID) >=
                       static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF)))
        return EINVAL;
    uint32_t handle = 0;
    if (call.file().add(UVERBS_OBJECT_DMAH, handle) == nullptr)
        return ENOMEM;
    call.set_new(UVERBS_ATTR_ALLOC_DMAH_HANDLE, handle);
    driver_other(call);
    return 0;
}

constexpr Attribute kFreeDmah[] = {
    {UVERBS_ATTR_FREE_DMA_HANDLE, "dmah_handle", Kind::kDestroyed, UVERBS_OBJECT_DMAH}};

int free_dmah(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_DMAH, call.handle(UVERBS_ATTR_FREE_DMA_HANDLE));
}

constexpr Attribute kAllocDmabuf[] = {
    {UVERBS_ATTR_ALLOC_DMABUF_HANDLE, "fd", Kind::kNewFd},
    {UVERBS_ATTR_ALLOC_DMABUF_PGOFF, "pgoff", Kind::kIn, 0, 8, 8},
};

/// The dma-buf is another file over the same length of memory; nothing here reads what is in it.
int alloc_dmabuf(Call &call)
{
    const auto page = call.in<uint64_t>(UVERBS_ATTR_ALLOC_DMABUF_PGOFF);
    if (page > UINT64_MAX / 4096 || !call.file().is_range(page * 4096, 1))
        return EINVAL;
    const int fd = memfd_create("verbs_dmabuf", MFD_CLOEXEC);
    if (fd < 0)
        return errno;
    if (ftruncate(fd, 4096) != 0) {
        const int error = errno;
        REAL(close)(fd);
        return error;
    }
    call.set_new(UVERBS_ATTR_ALLOC_DMABUF_HANDLE, static_cast<uint64_t>(fd));
    return 0;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, "DM/ALLOC", kAlloc, alloc_dm, true},
    {UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, "DM/FREE", kFree, free_dm, true},
    {UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC, "DMAH/ALLOC", kAllocDmah, alloc_dmah},
    {UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE, "DMAH/FREE", kFreeDmah, free_dmah},
    {UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC, "DMABUF/ALLOC", kAllocDmabuf, alloc_dmabuf},
};

}  // namespace

Methods dm_methods()
{
    return {kIoctl, {}};
}

}  // namespace sim
