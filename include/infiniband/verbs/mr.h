/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions: memory that a device may access (IBTA 10.6.3). */
#ifndef INFINIBAND_VERBS_MR_H
#define INFINIBAND_VERBS_MR_H

#include <infiniband/verbs/pd.h>
#include <infiniband/verbs/wr.h>

__VERBS_BEGIN_DECLS

/**
 * What may be done with a memory region. Local reads always may. Flags in IBV_ACCESS_OPTIONAL_RANGE are
 * hints: where they are unknown they are ignored.
 */
enum ibv_access_flags {
    IBV_ACCESS_LOCAL_WRITE = 1 << 0,
    IBV_ACCESS_REMOTE_WRITE = 1 << 1, /* needs LOCAL_WRITE */
    IBV_ACCESS_REMOTE_READ = 1 << 2,
    IBV_ACCESS_REMOTE_ATOMIC = 1 << 3, /* needs LOCAL_WRITE */
    IBV_ACCESS_MW_BIND = 1 << 4,
    IBV_ACCESS_ZERO_BASED = 1 << 5,       /* remote addresses count from the region's start */
    IBV_ACCESS_ON_DEMAND = 1 << 6,        /* paged in by the device: nothing is pinned */
    IBV_ACCESS_HUGETLB = 1 << 7,          /* with ON_DEMAND: all of it is huge pages */
    IBV_ACCESS_FLUSH_GLOBAL = 1 << 8,     /* remote flush to global visibility (IBTA A19) */
    IBV_ACCESS_FLUSH_PERSISTENT = 1 << 9, /* remote flush to persistence (IBTA A19) */
    IBV_ACCESS_RELAXED_ORDERING = IBV_ACCESS_OPTIONAL_FIRST /* writes may become visible out of order */
};

/** Memory region. `lkey` goes into an ibv_sge, `rkey` to the peers. */
struct ibv_mr {
    struct ibv_context *context;
    struct ibv_pd *pd;
    void *addr; /* its start; NULL for a null or an imported region, the offset for a dma-buf */
    size_t length;
    uint32_t handle; /* the kernel's, for ibv_import_mr */
    uint32_t lkey;
    uint32_t rkey;
};

/** What ibv_rereg_mr changes. */
enum ibv_rereg_mr_flags {
    IBV_REREG_MR_CHANGE_TRANSLATION = 1 << 0,
    IBV_REREG_MR_CHANGE_PD = 1 << 1,
    IBV_REREG_MR_CHANGE_ACCESS = 1 << 2,
    IBV_REREG_MR_FLAGS_SUPPORTED = (IBV_REREG_MR_CHANGE_ACCESS << 1) - 1
};

/** How ibv_rereg_mr failed, and what that leaves of the region. */
enum ibv_rereg_mr_err_code {
    IBV_REREG_MR_ERR_INPUT = -1,              /* invalid request: as it was */
    IBV_REREG_MR_ERR_DONT_FORK_NEW = -2,      /* fork protection of the new range failed: as it was */
    IBV_REREG_MR_ERR_DO_FORK_OLD = -3,        /* changed, but the old range is still protected */
    IBV_REREG_MR_ERR_CMD = -4,                /* the command failed: only to be deregistered */
    IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW = -5 /* that, and the new range is still protected */
};

/** Which members of an ibv_mr_init_attr are valid, besides length and access. */
enum ibv_mr_init_attr_mask {
    IBV_REG_MR_MASK_IOVA = 1 << 0,
    IBV_REG_MR_MASK_ADDR = 1 << 1,
    IBV_REG_MR_MASK_FD = 1 << 2,
    IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
    IBV_REG_MR_MASK_DMAH = 1 << 4,
    IBV_REG_MR_MASK_BUF = 1 << 5
};

/**
 * A registration in all its variants: memory of this process (addr, and iova unless it is the same), of a
 * dma-buf (fd, with fd_offset and iova) or of an ibv_buf (buf and addr).
 */
struct ibv_mr_init_attr {
    size_t length;      /* bytes */
    int access;         /* enum ibv_access_flags */
    uint64_t comp_mask; /* enum ibv_mr_init_attr_mask */
    uint64_t iova;      /* the address at which the device and the peers see it */
    void *addr;
    int fd;             /* dma-buf */
    uint64_t fd_offset; /* bytes into it */
    struct ibv_dmah *dmah;
    struct ibv_buf *buf; /* addr lies in it */
};

/* The exported functions behind ibv_reg_mr and ibv_reg_mr_iova; iova2 also understands optional access flags.
 */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access);
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);

/*
 * A program whose access flags are known when it is compiled, and that uses no optional one, calls the
 * function of the first release, so it still runs with the libraries of that time.
 */
__attribute__((__always_inline__)) static __inline__ struct ibv_mr *__ibv_reg_mr(struct ibv_pd *pd,
                                                                                 void *addr, size_t length,
                                                                                 unsigned int access,
                                                                                 int is_access_const)
{
    if (is_access_const && (access & IBV_ACCESS_OPTIONAL_RANGE) == 0)
        return ibv_reg_mr(pd, addr, length, __verbs_cast(int, access));
    return ibv_reg_mr_iova2(pd, addr, length, __verbs_pointer_cast(uintptr_t, addr), access);
}

__attribute__((__always_inline__)) static __inline__ struct ibv_mr *__ibv_reg_mr_iova(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access, int is_access_const)
{
    if (is_access_const && (access & IBV_ACCESS_OPTIONAL_RANGE) == 0)
        return ibv_reg_mr_iova(pd, addr, length, iova, __verbs_cast(int, access));
    return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

/* The sign makes an integer of an enumerator: C++20 warns about operations between two enumerations. */
#define __verbs_access_is_const(access) __builtin_constant_p((+(access) & +IBV_ACCESS_OPTIONAL_RANGE) == 0)

/**
 * struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
 *
 * Registers `length` bytes at `addr` with the access flags `access`. The pages stay pinned (RLIMIT_MEMLOCK)
 * until ibv_dereg_mr, except with IBV_ACCESS_ON_DEMAND, where addr NULL and length SIZE_MAX stand for all
 * memory.
 *
 * Returns NULL and errno: ENOMEM past RLIMIT_MEMLOCK, EFAULT for memory that is not there or is read-only,
 * EINVAL for flags that do not go together, EOPNOTSUPP for flags that the device does not know.
 */
#define ibv_reg_mr(pd, addr, length, access) \
    __ibv_reg_mr(pd, addr, length, access, __verbs_access_is_const(access))

/**
 * struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
 *
 * As ibv_reg_mr, but scatter/gather entries and peers address the region from `iova` on. It must have the
 * offset of `addr` in its page.
 */
#define ibv_reg_mr_iova(pd, addr, length, iova, access) \
    __ibv_reg_mr_iova(pd, addr, length, iova, access, __verbs_access_is_const(access))

/**
 * Registers `length` bytes at `offset` of the dma-buf `fd`, addressed from `iova` on. The descriptor may be
 * closed afterwards. Fork protection does not apply.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device or the kernel cannot.
 */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                 int access);

/**
 * Registers what `mr_init_attr` describes. Like ibv_reg_mr, ibv_reg_mr_iova, ibv_reg_dmabuf_mr and
 * ibv_reg_buf_mr, and with a DMA handle where it has one.
 *
 * Returns NULL and errno: EINVAL for members that do not go together, EOPNOTSUPP for what the device cannot.
 */
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);

/**
 * Registers no memory: what a device writes to the region is dropped, what it reads from it is undefined, and
 * the length of its scatter/gather entries counts all the same. addr is NULL, length SIZE_MAX, rkey 0.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device cannot.
 */
static __inline__ struct ibv_mr *ibv_alloc_null_mr(struct ibv_pd *pd)
{
    struct verbs_context *vctx = verbs_get_ctx_op(pd->context, alloc_null_mr);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->alloc_null_mr(pd);
}

/**
 * Changes a region in place, as `flags` say (enum ibv_rereg_mr_flags): its memory, its protection domain, its
 * access. Its keys may change. Nobody may use it meanwhile (IBTA 10.6.3).
 *
 * Returns 0, or an enum ibv_rereg_mr_err_code and errno.
 */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access);

/**
 * Deregisters a region of any kind and frees it.
 *
 * Returns 0, or the errno value: EBUSY while a memory window is bound to it. It is left as it was then.
 */
int ibv_dereg_mr(struct ibv_mr *mr);

/**
 * The region with the kernel's handle `mr_handle`, which another process registered; `pd` is imported. Its
 * addr is NULL. Release it with ibv_unimport_mr, or for all processes with ibv_dereg_mr.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider cannot.
 */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle);

/** Releases what this process holds of an imported region; the region itself stays. */
void ibv_unimport_mr(struct ibv_mr *mr);

/**
 * Tells the device what will happen to parts of on-demand regions of `pd`. `flags` is 0 or
 * IBV_ADVISE_MR_FLAG_FLUSH, which waits for the effect; an entry of `sg_list` names a region by lkey and a
 * range in it.
 *
 * Returns 0, or the errno value: EOPNOTSUPP, EINVAL, EFAULT for memory that is not there, ENOENT for an
 * unknown lkey.
 */
static __inline__ int ibv_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                                    struct ibv_sge *sg_list, uint32_t num_sge)
{
    struct verbs_context *vctx = verbs_get_ctx_op(pd->context, advise_mr);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->advise_mr(pd, advice, flags, sg_list, num_sge);
}

__VERBS_END_DECLS

#endif
