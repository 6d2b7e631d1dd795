/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion counters: how much has completed, without a completion queue entry for each. */
#ifndef INFINIBAND_VERBS_COMP_CNTR_H
#define INFINIBAND_VERBS_COMP_CNTR_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** What a counter counts. */
enum ibv_comp_cntr_type {
    IBV_COMP_CNTR_TYPE_WRS, /* work requests */
    IBV_COMP_CNTR_TYPE_BYTES
};

struct ibv_comp_cntr_init_attr {
    uint32_t comp_mask; /* 0 */
    enum ibv_comp_cntr_type type;
    uint32_t flags; /* 0 */
};

/** Completion counter: a count of successful completions and one of failed ones, 64 bits each. */
struct ibv_comp_cntr {
    struct ibv_context *context;
    uint32_t handle;
};

struct ibv_comp_cntr_caps {
    uint64_t max_value;               /* one more wraps to 0 */
    uint32_t max_counters;            /* 0: none */
    uint32_t supported_qp_attach_ops; /* enum ibv_qp_attach_comp_cntr_op */
};

/** The completions that count; REMOTE_* are operations of the peer. */
enum ibv_qp_attach_comp_cntr_op {
    IBV_QP_ATTACH_COMP_CNTR_OP_SEND = 1 << 0,
    IBV_QP_ATTACH_COMP_CNTR_OP_RECV = 1 << 1,
    IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ = 1 << 2,
    IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ = 1 << 3,
    IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE = 1 << 4,
    IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE = 1 << 5
};

struct ibv_qp_attach_comp_cntr_attr {
    uint32_t comp_mask; /* 0 */
    uint32_t op_mask;   /* enum ibv_qp_attach_comp_cntr_op */
};

/* The exported form of ibv_query_comp_cntr_caps: caps_size is the size of the caller's struct. */
int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps, size_t caps_size);

/** What the device's counters can do. Returns 0, or the errno value: EOPNOTSUPP when it has none. */
static __inline__ int ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps)
{
    return _ibv_query_comp_cntr_caps(context, caps, sizeof(*caps));
}

/**
 * Makes a counter, at 0, which the caller owns.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device has none of that type, ENOMEM when it has no more.
 */
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context,
                                           struct ibv_comp_cntr_init_attr *cc_attr);

/** Destroys a counter. Returns 0, or the errno value: EBUSY while a QP has it. */
int ibv_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr);

/** Sets the count of successes. What completes at the same time may be lost. Returns 0, or the errno value.
 */
int ibv_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);

/** Sets the count of failures; as ibv_set_comp_cntr. */
int ibv_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);

/** Adds to the count of successes; a read may show it a little later. Returns 0, or the errno value. */
int ibv_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);

/** Adds to the count of failures; as ibv_inc_comp_cntr. */
int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);

/** Reads the count of successes. Returns 0, or the errno value. */
int ibv_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);

/** Reads the count of failures. Returns 0, or the errno value. */
int ibv_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);

/**
 * Lets `comp_cntr` count the completions of `qp` that attr->op_mask names, until the QP is destroyed. The QP
 * is in RESET or INIT. Several QPs may share a counter.
 *
 * Returns 0, or the errno value: EINVAL in another state, EBUSY when another counter has one of the
 * operations, EOPNOTSUPP for operations that the device does not count.
 */
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
                            struct ibv_qp_attach_comp_cntr_attr *attr);

__VERBS_END_DECLS

#endif
