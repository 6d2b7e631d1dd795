/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended reliable connection domains: receive queues that processes share (IBTA annex A14). */
#ifndef INFINIBAND_VERBS_XRCD_H
#define INFINIBAND_VERBS_XRCD_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

enum ibv_xrcd_init_attr_mask {
    IBV_XRCD_INIT_ATTR_FD = 1 << 0,
    IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1,
    IBV_XRCD_INIT_ATTR_RESERVED = 1 << 2
};

/** The domain is that of the file behind `fd`; with fd -1 it is a private one. */
struct ibv_xrcd_init_attr {
    uint32_t comp_mask; /* FD and OFLAGS */
    int fd;
    int oflags; /* O_CREAT, O_EXCL */
};

/** XRC domain. */
struct ibv_xrcd {
    struct ibv_context *context;
};

/**
 * Opens the XRC domain of a file; O_CREAT makes it where there is none.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device has none, EINVAL without O_CREAT when there is none,
 * EEXIST.
 */
static __inline__ struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context,
                                                 struct ibv_xrcd_init_attr *xrcd_init_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, open_xrcd);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->open_xrcd(context, xrcd_init_attr);
}

/** Closes a domain; the last one to close it destroys it. Returns 0, or the errno value: EBUSY while in use.
 */
static __inline__ int ibv_close_xrcd(struct ibv_xrcd *xrcd)
{
    return verbs_get_ctx(xrcd->context)->close_xrcd(xrcd);
}

__VERBS_END_DECLS

#endif
