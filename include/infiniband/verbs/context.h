/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts: an opened device, and the table through which the inline verbs reach its provider. Programs carry
 * the offsets of these structs in their machine code: nothing here may ever move.
 */
#ifndef INFINIBAND_VERBS_CONTEXT_H
#define INFINIBAND_VERBS_CONTEXT_H

#include <infiniband/verbs/base.h>

__VERBS_BEGIN_DECLS

struct _compat_ibv_port_attr;
struct ibv_alloc_dm_attr;
struct ibv_buf;
struct ibv_context;
struct ibv_counter_attach_attr;
struct ibv_counters;
struct ibv_counters_init_attr;
struct ibv_cq;
struct ibv_cq_ex;
struct ibv_cq_init_attr_ex;
struct ibv_device;
struct ibv_device_attr;
struct ibv_device_attr_ex;
struct ibv_dm;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_flow;
struct ibv_flow_action;
struct ibv_flow_action_esp_attr;
struct ibv_flow_attr;
struct ibv_modify_cq_attr;
struct ibv_mr;
struct ibv_mr_init_attr;
struct ibv_mw;
struct ibv_mw_bind;
struct ibv_ops_wr;
struct ibv_parent_domain_init_attr;
struct ibv_pd;
struct ibv_port_attr;
struct ibv_qp;
struct ibv_qp_init_attr_ex;
struct ibv_qp_open_attr;
struct ibv_qp_rate_limit_attr;
struct ibv_query_device_ex_input;
struct ibv_recv_wr;
struct ibv_rwq_ind_table;
struct ibv_rwq_ind_table_init_attr;
struct ibv_send_wr;
struct ibv_sge;
struct ibv_srq;
struct ibv_srq_init_attr_ex;
struct ibv_td;
struct ibv_td_init_attr;
struct ibv_values_ex;
struct ibv_wc;
struct ibv_wq;
struct ibv_wq_attr;
struct ibv_wq_init_attr;
struct ibv_xrcd;
struct ibv_xrcd_init_attr;
struct verbs_ex_private;

/** Kinds of memory window (IBTA 10.6.7.2). */
enum ibv_mw_type {
    IBV_MW_TYPE_1 = 1, /* bound by ibv_bind_mw */
    IBV_MW_TYPE_2 = 2  /* bound by a work request, invalidated by the local or the remote side */
};

/**
 * Operations of the oldest interface, called by the inline verbs of the data path without a check: a provider
 * fills all that are named. The _compat members are filled for programs and libraries of the first releases
 * only.
 */
struct ibv_context_ops {
    int (*_compat_query_device)(struct ibv_context *context, struct ibv_device_attr *device_attr);
    int (*_compat_query_port)(struct ibv_context *context, uint8_t port_num,
                              struct _compat_ibv_port_attr *port_attr);
    void *(*_compat_alloc_pd)(void);
    void *(*_compat_dealloc_pd)(void);
    void *(*_compat_reg_mr)(void);
    void *(*_compat_rereg_mr)(void);
    void *(*_compat_dereg_mr)(void);
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
    int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
    int (*dealloc_mw)(struct ibv_mw *mw);
    void *(*_compat_create_cq)(void);
    int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
    int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
    void *(*_compat_cq_event)(void);
    void *(*_compat_resize_cq)(void);
    void *(*_compat_destroy_cq)(void);
    void *(*_compat_create_srq)(void);
    void *(*_compat_modify_srq)(void);
    void *(*_compat_query_srq)(void);
    void *(*_compat_destroy_srq)(void);
    int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr, struct ibv_recv_wr **bad_recv_wr);
    void *(*_compat_create_qp)(void);
    void *(*_compat_query_qp)(void);
    void *(*_compat_modify_qp)(void);
    void *(*_compat_destroy_qp)(void);
    int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
    int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
    void *(*_compat_create_ah)(void);
    void *(*_compat_destroy_ah)(void);
    void *(*_compat_attach_mcast)(void);
    void *(*_compat_detach_mcast)(void);
    void *(*_compat_async_event)(void);
};

/** An opened device, from ibv_open_device to ibv_close_device. Programs read it; only the library writes it.
 */
struct ibv_context {
    struct ibv_device *device;
    struct ibv_context_ops ops;
    int cmd_fd;           /* of the uverbs character device; what ibv_import_device takes */
    int async_fd;         /* readable when ibv_get_async_event has something to return */
    int num_comp_vectors; /* comp_vector of a completion queue is below this */
    pthread_mutex_t mutex;
    void *abi_compat; /* __VERBS_ABI_IS_EXTENDED: the context is embedded in a verbs_context */
};

#define __VERBS_ABI_IS_EXTENDED __verbs_pointer_cast(void *, UINTPTR_MAX)

/**
 * The extended context that surrounds an ibv_context. It grows at its front, so the distance of a member from
 * `context` never changes, and `sz` tells how much of it a context has: verbs_get_ctx_op checks that.
 */
/* ABI-frozen: new members go in front of all others. */
struct verbs_context {
    void (*free_buf)(struct ibv_buf *buf);
    void *(*alloc_buf)(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
    int (*dm_export_dmabuf_fd)(struct ibv_dm *dm);
    struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);
    int (*dealloc_dmah)(struct ibv_dmah *dmah);
    struct ibv_dmah *(*alloc_dmah)(struct ibv_context *context, struct ibv_dmah_init_attr *attr);
    int (*query_port)(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
                      size_t port_attr_len);
    int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *sg_list, uint32_t num_sges);
    struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
    int (*read_counters)(struct ibv_counters *counters, uint64_t *counters_value, uint32_t ncounters,
                         uint32_t flags);
    int (*attach_counters_point_flow)(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
                                      struct ibv_flow *flow);
    struct ibv_counters *(*create_counters)(struct ibv_context *context,
                                            struct ibv_counters_init_attr *init_attr);
    int (*destroy_counters)(struct ibv_counters *counters);
    struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length,
                                unsigned int access);
    struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
    int (*free_dm)(struct ibv_dm *dm);
    int (*modify_flow_action_esp)(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr);
    int (*destroy_flow_action)(struct ibv_flow_action *action);
    struct ibv_flow_action *(*create_flow_action_esp)(struct ibv_context *context,
                                                      struct ibv_flow_action_esp_attr *attr);
    int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
    struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr);
    int (*dealloc_td)(struct ibv_td *td);
    struct ibv_td *(*alloc_td)(struct ibv_context *context, struct ibv_td_init_attr *init_attr);
    int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
    int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);
    int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *rwq_ind_table);
    struct ibv_rwq_ind_table *(*create_rwq_ind_table)(struct ibv_context *context,
                                                      struct ibv_rwq_ind_table_init_attr *init_attr);
    int (*destroy_wq)(struct ibv_wq *wq);
    int (*modify_wq)(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr);
    struct ibv_wq *(*create_wq)(struct ibv_context *context, struct ibv_wq_init_attr *wq_init_attr);
    int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
    struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context, struct ibv_cq_init_attr_ex *init_attr);
    struct verbs_ex_private *priv; /* the library's own */
    int (*query_device_ex)(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_size);
    int (*ibv_destroy_flow)(struct ibv_flow *flow);
    void (*ABI_placeholder2)(void); /* unused */
    struct ibv_flow *(*ibv_create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *flow_attr);
    void (*ABI_placeholder1)(void); /* unused */
    struct ibv_qp *(*open_qp)(struct ibv_context *context, struct ibv_qp_open_attr *attr);
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *context, struct ibv_qp_init_attr_ex *qp_init_attr_ex);
    int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
    struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
                                     struct ibv_srq_init_attr_ex *srq_init_attr_ex);
    struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context, struct ibv_xrcd_init_attr *xrcd_init_attr);
    int (*close_xrcd)(struct ibv_xrcd *xrcd);
    uint64_t _ABI_placeholder3; /* unused */
    size_t sz;                  /* bytes of this struct that the context has, counted from its end */
    struct ibv_context context; /* stays last */
};

/** The extended context around `ctx`, or NULL when it has none. */
static __inline__ struct verbs_context *verbs_get_ctx(struct ibv_context *ctx)
{
    if (ctx->abi_compat != __VERBS_ABI_IS_EXTENDED)
        return NULL;
    return __verbs_cast(
        struct verbs_context *,
        __verbs_cast(void *, __verbs_pointer_cast(char *, ctx) - offsetof(struct verbs_context, context)));
}

/**
 * The extended context around `ctx` if it has the operation `op`, else NULL: it may have no extended context,
 * end behind `op` because it is an older release's, or leave `op` empty.
 */
#define verbs_get_ctx_op(ctx, op)                                                                         \
    __extension__({                                                                                       \
        struct verbs_context *__vctx = verbs_get_ctx(ctx);                                                \
        if (__vctx && (__vctx->sz < sizeof(*__vctx) - offsetof(struct verbs_context, op) || !__vctx->op)) \
            __vctx = NULL;                                                                                \
        __vctx;                                                                                           \
    })

/** Which members of an ibv_values_ex are asked for, and on return which are filled. */
enum ibv_values_mask { IBV_VALUES_MASK_RAW_CLOCK = 1 << 0, IBV_VALUES_MASK_RESERVED = 1 << 1 };

/** Values that a device changes all the time. */
struct ibv_values_ex {
    uint32_t comp_mask; /* enum ibv_values_mask */
    /* The device's free-running clock: ticks in tv_nsec, with tv_sec 0, where the provider knows no unit. */
    struct timespec raw_clock;
};

/**
 * Opens `device`, which comes from ibv_get_device_list; the list may be freed afterwards. The caller owns the
 * context. Several contexts of a device are independent of each other (IBTA 11.2.1.1).
 *
 * Returns NULL and errno: that of opening the character device (EACCES, ENOENT, ENODEV), or ENOMEM.
 */
struct ibv_context *ibv_open_device(struct ibv_device *device);

/**
 * Closes a context. Objects made in it must be gone: the library does not release them, and the kernel takes
 * back its part only (IBTA 11.2.1.4). No other thread may use the context any more.
 *
 * Returns 0, or -1 and errno.
 */
int ibv_close_device(struct ibv_context *context);

/**
 * A context of this process for what another process opened: `cmd_fd` is a duplicate of that context's
 * cmd_fd, as received over SCM_RIGHTS. The new context owns `cmd_fd` and ibv_close_device closes it; on
 * failure it stays the caller's.
 *
 * Returns NULL and errno: EOPNOTSUPP when the kernel or the provider cannot.
 */
struct ibv_context *ibv_import_device(int cmd_fd);

/**
 * Reads the values that values->comp_mask names, and says there which it read.
 *
 * Returns 0, or the errno value: EOPNOTSUPP when the device has none, EINVAL for an unknown bit.
 */
static __inline__ int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, query_rt_values);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->query_rt_values(context, values);
}

__VERBS_END_DECLS

#endif
