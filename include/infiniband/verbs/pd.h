/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains, thread domains and parent domains (IBTA 10.2.3). */
#ifndef INFINIBAND_VERBS_PD_H
#define INFINIBAND_VERBS_PD_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** Protection domain: QPs, MRs, MWs, AHs and SRQs of one work with each other, and with no others. */
struct ibv_pd {
    struct ibv_context *context;
    uint32_t handle;
};

/** Reserved; comp_mask is 0. */
struct ibv_td_init_attr {
    uint32_t comp_mask;
};

/** Thread domain: objects made with it are used by one thread at a time, so the provider need not lock them.
 */
struct ibv_td {
    struct ibv_context *context;
};

enum ibv_parent_domain_init_attr_mask {
    IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS = 1 << 0,
    IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT = 1 << 1,
    IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC = 1 << 2 /* memory shared with the host will do */
};

/* What an `alloc` returns to leave an allocation to the provider. */
#define IBV_ALLOCATOR_USE_DEFAULT __verbs_pointer_cast(void *, UINTPTR_MAX)

/**
 * What a parent domain is made of. With IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS the provider takes memory for
 * its queues from `alloc` and gives it back with `free`; both get pd_context.
 */
struct ibv_parent_domain_init_attr {
    struct ibv_pd *pd;  /* the protection domain behind it */
    struct ibv_td *td;  /* or NULL */
    uint32_t comp_mask; /* enum ibv_parent_domain_init_attr_mask */
    void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
                   uint64_t resource_type);
    void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
    void *pd_context;
};

/**
 * Makes a protection domain, which the caller owns.
 *
 * Returns NULL and errno.
 */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);

/**
 * Releases a protection domain, or a parent domain.
 *
 * Returns 0, or the errno value: EBUSY while an object of it exists.
 */
int ibv_dealloc_pd(struct ibv_pd *pd);

/**
 * The protection domain with the kernel's handle `pd_handle`, which another process made in the device that
 * `context` was imported from. Release it with ibv_unimport_pd, or for all processes with ibv_dealloc_pd.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider cannot.
 */
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle);

/** Releases what this process holds of an imported protection domain; the domain itself stays. */
void ibv_unimport_pd(struct ibv_pd *pd);

/**
 * Makes a thread domain, to be given to objects in a parent domain.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider has none.
 */
static __inline__ struct ibv_td *ibv_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_td);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->alloc_td(context, init_attr);
}

/** Releases a thread domain. Returns 0, or the errno value: EBUSY while a parent domain has it. */
static __inline__ int ibv_dealloc_td(struct ibv_td *td)
{
    struct verbs_context *vctx = verbs_get_ctx_op(td->context, dealloc_td);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->dealloc_td(td);
}

/**
 * Makes a protection domain that stands for attr->pd and adds a thread domain or allocators to it. Release it
 * with ibv_dealloc_pd, before attr->pd and attr->td.
 *
 * Returns NULL and errno: EINVAL without a pd, EOPNOTSUPP when the provider has none.
 */
static __inline__ struct ibv_pd *ibv_alloc_parent_domain(struct ibv_context *context,
                                                         struct ibv_parent_domain_init_attr *attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_parent_domain);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->alloc_parent_domain(context, attr);
}

__VERBS_END_DECLS

#endif
