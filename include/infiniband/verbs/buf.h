/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers whose kind of memory the provider chooses, such as what a confidential guest shares with its host.
 */
#ifndef INFINIBAND_VERBS_BUF_H
#define INFINIBAND_VERBS_BUF_H

#include <infiniband/verbs/mr.h>

__VERBS_BEGIN_DECLS

/** A buffer. Only the library reads its members. */
struct ibv_buf {
    void *addr;
    size_t size; /* bytes */
    struct ibv_pd *pd;
    int dmabuf_fd; /* -1: ordinary memory */
};

/**
 * Allocates `size` bytes for use with `pd`. A parent domain with
 * IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC lets the provider take memory that is shared with
 * the host. `*buf` becomes the handle, which the caller releases with ibv_free_buf; `pd` must live as long.
 *
 * Returns the memory's address; NULL and errno on failure.
 */
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);

/** Frees a buffer and its handle. No MR of it may exist any more. */
void ibv_free_buf(struct ibv_buf *buf);

/**
 * Registers `length` bytes at `addr`, which lie in `buf`, with the access flags of ibv_reg_mr. `pd` is the
 * one that the buffer was allocated with.
 *
 * Returns NULL and errno: EINVAL for another pd or a range outside of the buffer.
 */
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access);

/**
 * A new dma-buf descriptor for the buffer, which the caller closes.
 *
 * Returns -1 and errno: ENODATA when the buffer is ordinary memory.
 */
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);

__VERBS_END_DECLS

#endif
