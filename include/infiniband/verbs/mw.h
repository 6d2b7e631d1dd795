/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows: a part of a memory region under a key of its own (IBTA 10.6.7). */
#ifndef INFINIBAND_VERBS_MW_H
#define INFINIBAND_VERBS_MW_H

#include <infiniband/verbs/mr.h>

__VERBS_BEGIN_DECLS

/** Memory window. `rkey` changes with each binding. */
struct ibv_mw {
    struct ibv_context *context;
    struct ibv_pd *pd;
    uint32_t rkey;
    uint32_t handle;
    enum ibv_mw_type type;
};

/** What a window is bound to. A length of 0 unbinds it. */
struct ibv_mw_bind {
    uint64_t wr_id;
    unsigned int send_flags; /* enum ibv_send_flags */
    struct ibv_mw_bind_info bind_info;
};

/**
 * Makes a memory window that is not bound.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device has none of that type.
 */
static __inline__ struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    if (!pd->context->ops.alloc_mw) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return pd->context->ops.alloc_mw(pd, type);
}

/** Unbinds and frees a window. Returns 0, or the errno value. */
static __inline__ int ibv_dealloc_mw(struct ibv_mw *mw)
{
    return mw->context->ops.dealloc_mw(mw);
}

/** The next key for a type 2 window: its low eight bits are the program's to choose (IBTA 10.6.7.2). */
static __inline__ uint32_t ibv_inc_rkey(uint32_t rkey)
{
    return (rkey & ~0xffU) | ((rkey + 1) & 0xffU);
}

/**
 * Binds a type 1 window through the send queue of `qp`, where it completes as IBV_WC_BIND_MW; mw->rkey is the
 * new key at once.
 *
 * Returns 0, or the errno value: EINVAL for a type 2 window or for an address or length without a region,
 * EPERM when the region is in another protection domain.
 */
static __inline__ int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
    const struct ibv_mw_bind_info *info = &mw_bind->bind_info;

    if (mw->type != IBV_MW_TYPE_1)
        return EINVAL;
    if (!info->mr && (info->addr || info->length))
        return EINVAL;
    if (info->mr && info->mr->pd != mw->pd)
        return EPERM;
    return mw->context->ops.bind_mw(qp, mw, mw_bind);
}

__VERBS_END_DECLS

#endif
