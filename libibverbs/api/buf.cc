// SPDX-License-Identifier: BSD-2-Clause
// Buffers whose kind of memory the provider chooses.
#include <fcntl.h>
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT void *ibv_alloc_buf(ibv_pd *pd, size_t size, ibv_buf **buf)
{
    ibv_buf *made = nullptr;
    void *addr = ops(pd->context).alloc_buf(pd, size, &made);
    if (addr == nullptr)
        return nullptr;
    made->addr = addr;
    made->size = size;
    made->pd = pd;
    *buf = made;
    return addr;
}

VERBS_EXPORT void ibv_free_buf(ibv_buf *buf)
{
    ops(buf->pd->context).free_buf(buf);
}

VERBS_EXPORT ibv_mr *ibv_reg_buf_mr(ibv_pd *pd, ibv_buf *buf, void *addr, size_t length, int access)
{
    ibv_mr_init_attr attr = {};
    attr.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR;
    attr.buf = buf;
    attr.addr = addr;
    attr.length = length;
    attr.access = access;
    return ibv_reg_mr_ex(pd, &attr);
}

VERBS_EXPORT int ibv_export_buf_dmabuf_fd(ibv_buf *buf)
{
    if (buf->dmabuf_fd < 0)
        return verbs::minus_one_with(ENODATA);
    return fcntl(buf->dmabuf_fd, F_DUPFD_CLOEXEC, 0);
}
