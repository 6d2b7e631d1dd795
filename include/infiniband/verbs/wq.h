/* SPDX-License-Identifier: BSD-2-Clause */
/* Receive work queues outside of a QP, and the tables that spread packets over them. */
#ifndef INFINIBAND_VERBS_WQ_H
#define INFINIBAND_VERBS_WQ_H

#include <infiniband/verbs/cq.h>
#include <infiniband/verbs/wr.h>

__VERBS_BEGIN_DECLS

enum ibv_wq_type {
    IBV_WQT_RQ /* receive queue */
};

enum ibv_wq_state { IBV_WQS_RESET, IBV_WQS_RDY, IBV_WQS_ERR, IBV_WQS_UNKNOWN };

/** Work queue: the receive queue of the QPs whose indirection table has it. */
struct ibv_wq {
    struct ibv_context *context;
    void *wq_context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    uint32_t wq_num;
    uint32_t handle;
    enum ibv_wq_state state;
    enum ibv_wq_type wq_type;
    int (*post_recv)(struct ibv_wq *current, struct ibv_recv_wr *recv_wr, struct ibv_recv_wr **bad_recv_wr);
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
    uint32_t comp_mask;
};

enum ibv_wq_init_attr_mask { IBV_WQ_INIT_ATTR_FLAGS = 1 << 0, IBV_WQ_INIT_ATTR_RESERVED = 1 << 1 };

enum ibv_wq_flags {
    IBV_WQ_FLAGS_CVLAN_STRIPPING = 1 << 0,
    IBV_WQ_FLAGS_SCATTER_FCS = 1 << 1,
    IBV_WQ_FLAGS_DELAY_DROP = 1 << 2,
    IBV_WQ_FLAGS_PCI_WRITE_END_PADDING = 1 << 3,
    IBV_WQ_FLAGS_RESERVED = 1 << 4
};

struct ibv_wq_init_attr {
    void *wq_context;
    enum ibv_wq_type wq_type;
    uint32_t max_wr;
    uint32_t max_sge;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    uint32_t comp_mask;    /* enum ibv_wq_init_attr_mask */
    uint32_t create_flags; /* enum ibv_wq_flags */
};

enum ibv_wq_attr_mask {
    IBV_WQ_ATTR_STATE = 1 << 0,
    IBV_WQ_ATTR_CURR_STATE = 1 << 1,
    IBV_WQ_ATTR_FLAGS = 1 << 2,
    IBV_WQ_ATTR_RESERVED = 1 << 3
};

struct ibv_wq_attr {
    uint32_t attr_mask; /* enum ibv_wq_attr_mask */
    enum ibv_wq_state wq_state;
    enum ibv_wq_state curr_wq_state; /* the state it is in now, if the caller knows */
    uint32_t flags;                  /* enum ibv_wq_flags */
    uint32_t flags_mask;             /* the flags that change */
};

/** Indirection table: a hash of a packet selects the work queue that gets it. */
struct ibv_rwq_ind_table {
    struct ibv_context *context;
    int ind_tbl_handle;
    int ind_tbl_num;
    uint32_t comp_mask;
};

enum ibv_ind_table_init_attr_mask { IBV_CREATE_IND_TABLE_RESERVED = 1 << 0 };

struct ibv_rwq_ind_table_init_attr {
    uint32_t log_ind_tbl_size; /* the table has 2^this entries */
    struct ibv_wq **ind_tbl;
    uint32_t comp_mask; /* 0 */
};

/**
 * Makes a work queue, in the state RESET, which the caller owns; max_wr and max_sge tell afterwards what it
 * really holds.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider has none.
 */
static __inline__ struct ibv_wq *ibv_create_wq(struct ibv_context *context,
                                               struct ibv_wq_init_attr *wq_init_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, create_wq);
    struct ibv_wq *wq;

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }

    wq = vctx->create_wq(context, wq_init_attr);
    if (wq) {
        wq->wq_context = wq_init_attr->wq_context;
        wq->events_completed = 0;
        pthread_mutex_init(&wq->mutex, NULL);
        pthread_cond_init(&wq->cond, NULL);
    }
    return wq;
}

/** Changes what wq_attr->attr_mask names. Returns 0, or the errno value. */
static __inline__ int ibv_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(wq->context, modify_wq);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->modify_wq(wq, wq_attr);
}

/** Destroys a work queue, after its events have been given back. Returns 0, or the errno value: EBUSY. */
static __inline__ int ibv_destroy_wq(struct ibv_wq *wq)
{
    struct verbs_context *vctx = verbs_get_ctx_op(wq->context, destroy_wq);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->destroy_wq(wq);
}

/** Posts a list of receives to a work queue; as ibv_post_recv. */
static __inline__ int ibv_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *recv_wr,
                                       struct ibv_recv_wr **bad_recv_wr)
{
    return wq->post_recv(wq, recv_wr, bad_recv_wr);
}

/** Makes an indirection table, which the caller owns. Returns NULL and errno: EOPNOTSUPP, EINVAL. */
static __inline__ struct ibv_rwq_ind_table *ibv_create_rwq_ind_table(
    struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *init_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, create_rwq_ind_table);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->create_rwq_ind_table(context, init_attr);
}

/** Destroys an indirection table. Returns 0, or the errno value: EBUSY while a QP uses it. */
static __inline__ int ibv_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table)
{
    struct verbs_context *vctx = verbs_get_ctx_op(rwq_ind_table->context, destroy_rwq_ind_table);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->destroy_rwq_ind_table(rwq_ind_table);
}

__VERBS_END_DECLS

#endif
