/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues (IBTA 10.2.9). */
#ifndef INFINIBAND_VERBS_SRQ_H
#define INFINIBAND_VERBS_SRQ_H

#include <infiniband/verbs/cq.h>
#include <infiniband/verbs/wr.h>
#include <infiniband/verbs/xrcd.h>

__VERBS_BEGIN_DECLS

/** Shared receive queue. Programs read it; only the library and the provider write it. */
struct ibv_srq {
    struct ibv_context *context;
    void *srq_context;
    struct ibv_pd *pd;
    uint32_t handle;

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
};

/** What ibv_modify_srq changes. */
enum ibv_srq_attr_mask { IBV_SRQ_MAX_WR = 1 << 0, IBV_SRQ_LIMIT = 1 << 1 };

struct ibv_srq_attr {
    uint32_t max_wr;
    uint32_t max_sge;   /* of a receive */
    uint32_t srq_limit; /* IBV_EVENT_SRQ_LIMIT_REACHED when fewer receives are left; 0: none */
};

struct ibv_srq_init_attr {
    void *srq_context;
    struct ibv_srq_attr attr;
};

enum ibv_srq_type {
    IBV_SRQT_BASIC,
    IBV_SRQT_XRC,
    IBV_SRQT_TM /* tag matching */
};

enum ibv_srq_init_attr_mask {
    IBV_SRQ_INIT_ATTR_TYPE = 1 << 0,
    IBV_SRQ_INIT_ATTR_PD = 1 << 1,
    IBV_SRQ_INIT_ATTR_XRCD = 1 << 2,
    IBV_SRQ_INIT_ATTR_CQ = 1 << 3,
    IBV_SRQ_INIT_ATTR_TM = 1 << 4,
    IBV_SRQ_INIT_ATTR_RESERVED = 1 << 5
};

struct ibv_tm_cap {
    uint32_t max_num_tags;
    uint32_t max_ops; /* list operations outstanding */
};

/** Begins as struct ibv_srq_init_attr. */
struct ibv_srq_init_attr_ex {
    void *srq_context;
    struct ibv_srq_attr attr;

    uint32_t comp_mask; /* enum ibv_srq_init_attr_mask */
    enum ibv_srq_type srq_type;
    struct ibv_pd *pd;
    struct ibv_xrcd *xrcd; /* XRC */
    struct ibv_cq *cq;     /* XRC and TM: where receives complete */
    struct ibv_tm_cap tm_cap;
};

/**
 * Makes an SRQ, which the caller owns; srq_init_attr->attr tells afterwards what it really holds, at least
 * what was asked for.
 *
 * Returns NULL and errno.
 */
struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);

/**
 * Makes an SRQ of any type; a basic one with nothing but a PD is that of ibv_create_srq.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider has no other type, EINVAL for members that are
 * missing.
 */
static __inline__ struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context,
                                                    struct ibv_srq_init_attr_ex *srq_init_attr_ex)
{
    const uint32_t type_bit = IBV_SRQ_INIT_ATTR_TYPE;
    const uint32_t pd_bit = IBV_SRQ_INIT_ATTR_PD;
    uint32_t mask = srq_init_attr_ex->comp_mask;
    struct verbs_context *vctx;

    if ((mask | type_bit) == (pd_bit | type_bit) &&
        (!(mask & type_bit) || srq_init_attr_ex->srq_type == IBV_SRQT_BASIC))
        return ibv_create_srq(srq_init_attr_ex->pd,
                              __verbs_pointer_cast(struct ibv_srq_init_attr *, srq_init_attr_ex));

    vctx = verbs_get_ctx_op(context, create_srq_ex);
    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->create_srq_ex(context, srq_init_attr_ex);
}

/** Changes what `srq_attr_mask` names. A limit counts once: after its event it is 0. Returns 0, or the errno
 * value. */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask);

/** Reads the attributes of an SRQ. Returns 0, or the errno value. */
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr);

/** The number under which XRC peers address the SRQ. Returns 0, or the errno value: EOPNOTSUPP, EINVAL. */
static __inline__ int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
    struct verbs_context *vctx = verbs_get_ctx_op(srq->context, get_srq_num);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->get_srq_num(srq, srq_num);
}

/** Destroys an SRQ, after its events have been given back. Returns 0, or the errno value: EBUSY while a QP
 * uses it. */
int ibv_destroy_srq(struct ibv_srq *srq);

/**
 * Posts a list of receives (IBTA 11.4.1.2). It stops at the first that fails, and `*bad_recv_wr` is that one;
 * those before it are posted.
 *
 * Returns 0, or the errno value: ENOMEM when the queue is full, EINVAL.
 */
static __inline__ int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
                                        struct ibv_recv_wr **bad_recv_wr)
{
    return srq->context->ops.post_srq_recv(srq, recv_wr, bad_recv_wr);
}

/** Posts list operations to a tag-matching SRQ; as ibv_post_srq_recv. EOPNOTSUPP when the provider has none.
 */
static __inline__ int ibv_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op)
{
    struct verbs_context *vctx = verbs_get_ctx_op(srq->context, post_srq_ops);

    if (!vctx) {
        *bad_op = op;
        return EOPNOTSUPP;
    }
    return vctx->post_srq_ops(srq, op, bad_op);
}

__VERBS_END_DECLS

#endif
