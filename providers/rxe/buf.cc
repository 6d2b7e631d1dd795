// SPDX-License-Identifier: BSD-2-Clause
// Buffers: pages of ordinary memory, for the driver is software and reaches those of confidential guests too.
#include "buf.hh"

#include <sys/mman.h>

#include "common/memory.hh"

namespace rxe {

void *buf_alloc(ibv_pd *, size_t length, ibv_buf **buf)
{
    auto made = common::allocate<ibv_buf>();
    if (!made)
        return nullptr;
    void *addr = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (addr == MAP_FAILED)
        return nullptr;
    made->dmabuf_fd = -1;
    *buf = made.release();
    return addr;
}

void buf_free(ibv_buf *buf)
{
    munmap(buf->addr, buf->size);
    std::free(buf);
}

}  // namespace rxe
