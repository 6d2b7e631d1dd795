/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory: memory on the device itself. */
#ifndef INFINIBAND_VERBS_DM_H
#define INFINIBAND_VERBS_DM_H

#include <infiniband/verbs/mr.h>

__VERBS_BEGIN_DECLS

struct ibv_alloc_dm_attr {
    size_t length;          /* bytes */
    uint32_t log_align_req; /* alignment, as a power of two */
    uint32_t comp_mask;     /* 0 */
};

/** Which members of an ibv_dm past the functions are valid. */
enum ibv_dm_mask { IBV_DM_MASK_HANDLE = 1 << 0 };

/** Device memory. Programs reach it through ibv_memcpy_to_dm and ibv_memcpy_from_dm, peers through an MR of
 * it. */
struct ibv_dm {
    struct ibv_context *context;
    int (*memcpy_to_dm)(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr, size_t length);
    int (*memcpy_from_dm)(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset, size_t length);
    uint32_t comp_mask; /* enum ibv_dm_mask */
    uint32_t handle;    /* the kernel's, for ibv_import_dm */
};

/**
 * Allocates device memory.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device has none, ENOMEM when it has no more.
 */
static __inline__ struct ibv_dm *ibv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_dm);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->alloc_dm(context, attr);
}

/** Frees device memory. Returns 0, or the errno value: EBUSY while an MR of it exists. */
static __inline__ int ibv_free_dm(struct ibv_dm *dm)
{
    struct verbs_context *vctx = verbs_get_ctx_op(dm->context, free_dm);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->free_dm(dm);
}

/**
 * Copies `length` bytes to device memory. Offset and length may have to be multiples of 4.
 *
 * Returns 0, or the errno value.
 */
static __inline__ int ibv_memcpy_to_dm(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr,
                                       size_t length)
{
    return dm->memcpy_to_dm(dm, dm_offset, host_addr, length);
}

/** Copies `length` bytes from device memory; as ibv_memcpy_to_dm. */
static __inline__ int ibv_memcpy_from_dm(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset,
                                         size_t length)
{
    return dm->memcpy_from_dm(host_addr, dm, dm_offset, length);
}

/**
 * Registers device memory. `access` has IBV_ACCESS_ZERO_BASED: addresses count from the region's start.
 *
 * Returns NULL and errno: EOPNOTSUPP, EINVAL for a range outside of it.
 */
static __inline__ struct ibv_mr *ibv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
                                               size_t length, unsigned int access)
{
    struct verbs_context *vctx = verbs_get_ctx_op(pd->context, reg_dm_mr);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->reg_dm_mr(pd, dm, dm_offset, length, access);
}

/**
 * The device memory with the kernel's handle `dm_handle`, which another process allocated. Release it with
 * ibv_unimport_dm, or for all processes with ibv_free_dm.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider cannot.
 */
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle);

/** Releases what this process holds of imported device memory; the memory itself stays. */
void ibv_unimport_dm(struct ibv_dm *dm);

/**
 * A new dma-buf descriptor for the memory, which the caller closes.
 *
 * Returns -1 and errno: EOPNOTSUPP when the provider or the kernel cannot.
 */
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);

__VERBS_END_DECLS

#endif
