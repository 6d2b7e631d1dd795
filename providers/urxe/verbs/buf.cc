// SPDX-License-Identifier: BSD-2-Clause
// Buffers: the memory that suits this device is that which peers map.
#include "verbs/buf.hh"

#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "verbs/pd.hh"

namespace urxe {
namespace {

struct Buf {
    ibv_buf buf;  // must be first
    Buffer *memory;
};

}  // namespace

void *buf_alloc(ibv_pd *pd, size_t size, ibv_buf **buf)
{
    Process &process = process_of(*pd->context);
    auto made = common::allocate<Buf>();
    if (!made)
        return nullptr;
    Buf &result = *made;
    result.memory = process.buffers.make(process, size);
    if (result.memory == nullptr)
        return nullptr;
    result.buf.dmabuf_fd = -1;
    pd_ref(pd);
    void *memory = reinterpret_cast<void *>(result.memory->address);
    *buf = &made.release()->buf;
    return memory;
}

void buf_free(ibv_buf *ibbuf)
{
    auto *buf = reinterpret_cast<Buf *>(ibbuf);
    Process &process = process_of(*ibbuf->pd->context);
    process.buffers.release(process, *buf->memory);
    pd_unref(ibbuf->pd);
    std::free(buf);
}

}  // namespace urxe
