/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters that are attached to flows. */
#ifndef INFINIBAND_VERBS_COUNTERS_H
#define INFINIBAND_VERBS_COUNTERS_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** Reserved; comp_mask is 0. */
struct ibv_counters_init_attr {
    uint32_t comp_mask;
};

/** A set of counters. */
struct ibv_counters {
    struct ibv_context *context;
};

enum ibv_counter_description { IBV_COUNTER_PACKETS, IBV_COUNTER_BYTES };

struct ibv_counter_attach_attr {
    enum ibv_counter_description counter_desc;
    uint32_t index;     /* where ibv_read_counters is to put it */
    uint32_t comp_mask; /* 0 */
};

enum ibv_read_counters_flags {
    IBV_READ_COUNTERS_ATTR_PREFER_CACHED = 1 << 0 /* the last values read will do */
};

/** Makes a set of counters, which the caller owns. Returns NULL and errno: EOPNOTSUPP. */
static __inline__ struct ibv_counters *ibv_create_counters(struct ibv_context *context,
                                                           struct ibv_counters_init_attr *init_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, create_counters);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->create_counters(context, init_attr);
}

/** Destroys a set of counters. Returns 0, or the errno value: EBUSY while a flow has it. */
static __inline__ int ibv_destroy_counters(struct ibv_counters *counters)
{
    struct verbs_context *vctx = verbs_get_ctx_op(counters->context, destroy_counters);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->destroy_counters(counters);
}

/**
 * Adds a counter to the set; with `flow` NULL, for the flows that will name the set in an
 * ibv_flow_spec_counter_action.
 *
 * Returns 0, or the errno value: EOPNOTSUPP, EINVAL, EBUSY for an index that is taken.
 */
static __inline__ int ibv_attach_counters_point_flow(struct ibv_counters *counters,
                                                     struct ibv_counter_attach_attr *attr,
                                                     struct ibv_flow *flow)
{
    struct verbs_context *vctx = verbs_get_ctx_op(counters->context, attach_counters_point_flow);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->attach_counters_point_flow(counters, attr, flow);
}

/** Reads the first `ncounters` counters into `counters_value`. Returns 0, or the errno value. */
static __inline__ int ibv_read_counters(struct ibv_counters *counters, uint64_t *counters_value,
                                        uint32_t ncounters, uint32_t flags)
{
    struct verbs_context *vctx = verbs_get_ctx_op(counters->context, read_counters);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->read_counters(counters, counters_value, ncounters, flags);
}

__VERBS_END_DECLS

#endif
