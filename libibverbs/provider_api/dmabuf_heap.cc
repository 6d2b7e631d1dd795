// SPDX-License-Identifier: BSD-2-Clause
// For providers: memory that a confidential guest shares with its host, from the kernel's dma-buf heap for
// it.
#include <fcntl.h>
#include <infiniband/driver.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/export.hh"
#include "base/memory.hh"
#include "base/unique_fd.hh"

struct ibv_dmabuf_heap {
    int heap_fd;
};

namespace {

constexpr const char *kSharedHeap = "/dev/dma_heap/system_cc_shared";

}  // namespace

VERBS_EXPORT ibv_dmabuf_heap *ibv_dmabuf_heap_cc_shared_init(void)
{
    verbs::Allocated<ibv_dmabuf_heap> heap = verbs::allocate<ibv_dmabuf_heap>();
    if (!heap)
        return verbs::null_with(ENOMEM);
    heap->heap_fd = open(kSharedHeap, O_RDWR | O_CLOEXEC);
    return heap->heap_fd >= 0 ? heap.release() : nullptr;
}
VERBS_EXPORT_SINCE_64(ibv_dmabuf_heap_cc_shared_init);

VERBS_EXPORT void ibv_dmabuf_heap_destroy(ibv_dmabuf_heap *heap)
{
    close(heap->heap_fd);
    free(heap);
}
VERBS_EXPORT_SINCE_64(ibv_dmabuf_heap_destroy);

VERBS_EXPORT void *ibv_dmabuf_heap_alloc(ibv_dmabuf_heap *heap, size_t size, int *dmabuf_fd)
{
    dma_heap_allocation_data request = {};
    request.len = size;
    request.fd_flags = O_RDWR | O_CLOEXEC;
    if (ioctl(heap->heap_fd, DMA_HEAP_IOCTL_ALLOC, &request) != 0)
        return nullptr;
    verbs::UniqueFd fd(static_cast<int>(request.fd));
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (memory == MAP_FAILED)
        return nullptr;
    *dmabuf_fd = fd.release();
    return memory;
}
VERBS_EXPORT_SINCE_64(ibv_dmabuf_heap_alloc);

VERBS_EXPORT void ibv_dmabuf_heap_free(void *addr, size_t size, int dmabuf_fd)
{
    munmap(addr, size);
    close(dmabuf_fd);
}
VERBS_EXPORT_SINCE_64(ibv_dmabuf_heap_free);
