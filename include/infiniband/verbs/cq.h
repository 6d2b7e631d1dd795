/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues (IBTA 10.8.5, 11.4.2). */
#ifndef INFINIBAND_VERBS_CQ_H
#define INFINIBAND_VERBS_CQ_H

#include <infiniband/verbs/comp_channel.h>
#include <infiniband/verbs/pd.h>
#include <infiniband/verbs/wc.h>

__VERBS_BEGIN_DECLS

/** Completion queue. Programs read it; only the library and the provider write it. */
struct ibv_cq {
    struct ibv_context *context;
    struct ibv_comp_channel *channel; /* or NULL */
    void *cq_context;
    uint32_t handle;
    int cqe; /* entries it has room for */

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed;
    uint32_t async_events_completed;
};

/** What each completion of an ibv_cq_ex can be asked for. */
enum ibv_create_cq_wc_flags {
    IBV_WC_EX_WITH_BYTE_LEN = 1 << 0,
    IBV_WC_EX_WITH_IMM = 1 << 1,
    IBV_WC_EX_WITH_QP_NUM = 1 << 2,
    IBV_WC_EX_WITH_SRC_QP = 1 << 3,
    IBV_WC_EX_WITH_SLID = 1 << 4,
    IBV_WC_EX_WITH_SL = 1 << 5,
    IBV_WC_EX_WITH_DLID_PATH_BITS = 1 << 6,
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 1 << 7,
    IBV_WC_EX_WITH_CVLAN = 1 << 8,
    IBV_WC_EX_WITH_FLOW_TAG = 1 << 9,
    IBV_WC_EX_WITH_TM_INFO = 1 << 10,
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11
};

enum {
    /* What a struct ibv_wc has. */
    IBV_WC_STANDARD_FLAGS = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
                            IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |
                            IBV_WC_EX_WITH_DLID_PATH_BITS,
    /* All that this release knows. */
    IBV_CREATE_CQ_SUP_WC_FLAGS = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                 IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO |
                                 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK
};

enum ibv_cq_init_attr_mask { IBV_CQ_INIT_ATTR_MASK_FLAGS = 1 << 0, IBV_CQ_INIT_ATTR_MASK_PD = 1 << 1 };

enum ibv_create_cq_attr_flags {
    IBV_CREATE_CQ_ATTR_SINGLE_THREADED = 1 << 0, /* one thread at a time polls: no lock is needed */
    IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN = 1 << 1
};

/** What to make an ibv_cq_ex from. */
struct ibv_cq_init_attr_ex {
    uint32_t cqe; /* the least number of entries */
    void *cq_context;
    struct ibv_comp_channel *channel; /* or NULL */
    uint32_t comp_vector;
    uint64_t wc_flags;            /* enum ibv_create_cq_wc_flags */
    uint32_t comp_mask;           /* enum ibv_cq_init_attr_mask */
    uint32_t flags;               /* enum ibv_create_cq_attr_flags */
    struct ibv_pd *parent_domain; /* its thread domain and allocators are used */
};

/** Reserved; comp_mask is 0. */
struct ibv_poll_cq_attr {
    uint32_t comp_mask;
};

/** Tag-matching header of a message. */
struct ibv_wc_tm_info {
    uint64_t tag;
    uint32_t priv; /* the sender's app_ctx */
};

/**
 * Completion queue that is polled an entry at a time: start_poll, the read functions of the entry, next_poll
 * and so on, end_poll. Begins as struct ibv_cq. A read function may be called only if the queue was created
 * for it, and only between start and end.
 */
struct ibv_cq_ex {
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    void *cq_context;
    uint32_t handle;
    int cqe;

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed;
    uint32_t async_events_completed;

    uint32_t comp_mask;
    enum ibv_wc_status status; /* of the current entry */
    uint64_t wr_id;            /* of the current entry */
    int (*start_poll)(struct ibv_cq_ex *current, struct ibv_poll_cq_attr *attr);
    int (*next_poll)(struct ibv_cq_ex *current);
    void (*end_poll)(struct ibv_cq_ex *current);
    enum ibv_wc_opcode (*read_opcode)(struct ibv_cq_ex *current);
    uint32_t (*read_vendor_err)(struct ibv_cq_ex *current);
    uint32_t (*read_byte_len)(struct ibv_cq_ex *current);
    __be32 (*read_imm_data)(struct ibv_cq_ex *current);
    uint32_t (*read_qp_num)(struct ibv_cq_ex *current);
    uint32_t (*read_src_qp)(struct ibv_cq_ex *current);
    unsigned int (*read_wc_flags)(struct ibv_cq_ex *current);
    uint32_t (*read_slid)(struct ibv_cq_ex *current);
    uint8_t (*read_sl)(struct ibv_cq_ex *current);
    uint8_t (*read_dlid_path_bits)(struct ibv_cq_ex *current);
    uint64_t (*read_completion_ts)(struct ibv_cq_ex *current);
    uint16_t (*read_cvlan)(struct ibv_cq_ex *current);
    uint32_t (*read_flow_tag)(struct ibv_cq_ex *current);
    void (*read_tm_info)(struct ibv_cq_ex *current, struct ibv_wc_tm_info *tm_info);
    uint64_t (*read_completion_wallclock_ns)(struct ibv_cq_ex *current);
};

enum ibv_cq_attr_mask { IBV_CQ_ATTR_MODERATE = 1 << 0, IBV_CQ_ATTR_RESERVED = 1 << 1 };

/** Moderation: an event after this many completions or this time, whichever is first. */
struct ibv_moderate_cq {
    uint16_t cq_count;
    uint16_t cq_period; /* microseconds */
};

struct ibv_modify_cq_attr {
    uint32_t attr_mask; /* enum ibv_cq_attr_mask */
    struct ibv_moderate_cq moderate;
};

/**
 * Makes a completion queue with room for at least `cqe` entries; its member cqe tells for how many. `channel`
 * is NULL or gets its events, `comp_vector` is below context->num_comp_vectors. The caller owns it.
 *
 * Returns NULL and errno: EINVAL for a size or vector that the device has not.
 */
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector);

/**
 * Makes a completion queue that is polled an entry at a time. ibv_cq_ex_to_cq gives the ibv_cq for all other
 * calls.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider has none or not the wc_flags, EINVAL for an unknown
 * comp_mask bit.
 */
static __inline__ struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context,
                                                     struct ibv_cq_init_attr_ex *cq_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, create_cq_ex);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->create_cq_ex(context, cq_attr);
}

static __inline__ struct ibv_cq *ibv_cq_ex_to_cq(struct ibv_cq_ex *cq)
{
    return __verbs_pointer_cast(struct ibv_cq *, cq);
}

/** Gives a queue room for at least `cqe` entries. Returns 0, or the errno value; ENOSYS when the device
 * cannot. */
int ibv_resize_cq(struct ibv_cq *cq, int cqe);

/** Changes the moderation of a queue. Returns 0, or the errno value. */
static __inline__ int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(cq->context, modify_cq);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->modify_cq(cq, attr);
}

/**
 * Destroys a queue, after all its events have been given back: it waits for that.
 *
 * Returns 0, or the errno value: EBUSY while a QP or WQ uses it.
 */
int ibv_destroy_cq(struct ibv_cq *cq);

/**
 * Takes up to `num_entries` completions (IBTA 11.4.2.1). Threads may poll at the same time, unless the queue
 * is single threaded.
 *
 * Returns how many, fewer than `num_entries` when the queue is empty now; negative on failure.
 */
static __inline__ int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
    return cq->context->ops.poll_cq(cq, num_entries, wc);
}

/**
 * Asks for one event at the next completion; with `solicited_only`, at the next solicited or failed one
 * (IBTA 11.4.2.2). Completions that are already there give none: poll once more afterwards.
 *
 * Returns 0, or the errno value.
 */
static __inline__ int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    return cq->context->ops.req_notify_cq(cq, solicited_only);
}

/** Begins polling at the first entry. Returns 0, ENOENT when the queue is empty (then without ibv_end_poll),
 * or another errno value. */
static __inline__ int ibv_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    return cq->start_poll(cq, attr);
}

/** Goes on to the next entry. Returns 0, ENOENT when there is none, or another errno value. */
static __inline__ int ibv_next_poll(struct ibv_cq_ex *cq)
{
    return cq->next_poll(cq);
}

/** Ends polling: the entries that were read are consumed. */
static __inline__ void ibv_end_poll(struct ibv_cq_ex *cq)
{
    cq->end_poll(cq);
}

/* The current entry's parts; their meaning is that of the members of struct ibv_wc. */

static __inline__ enum ibv_wc_opcode ibv_wc_read_opcode(struct ibv_cq_ex *cq)
{
    return cq->read_opcode(cq);
}

static __inline__ uint32_t ibv_wc_read_vendor_err(struct ibv_cq_ex *cq)
{
    return cq->read_vendor_err(cq);
}

static __inline__ uint32_t ibv_wc_read_byte_len(struct ibv_cq_ex *cq)
{
    return cq->read_byte_len(cq);
}

static __inline__ __be32 ibv_wc_read_imm_data(struct ibv_cq_ex *cq)
{
    return cq->read_imm_data(cq);
}

/** The key that the sender had invalidated, in host byte order. */
static __inline__ uint32_t ibv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
#ifdef __CHECKER__
    return (__attribute__((force)) uint32_t)cq->read_imm_data(cq);
#else
    return cq->read_imm_data(cq);
#endif
}

static __inline__ uint32_t ibv_wc_read_qp_num(struct ibv_cq_ex *cq)
{
    return cq->read_qp_num(cq);
}

static __inline__ uint32_t ibv_wc_read_src_qp(struct ibv_cq_ex *cq)
{
    return cq->read_src_qp(cq);
}

static __inline__ unsigned int ibv_wc_read_wc_flags(struct ibv_cq_ex *cq)
{
    return cq->read_wc_flags(cq);
}

static __inline__ uint32_t ibv_wc_read_slid(struct ibv_cq_ex *cq)
{
    return cq->read_slid(cq);
}

static __inline__ uint8_t ibv_wc_read_sl(struct ibv_cq_ex *cq)
{
    return cq->read_sl(cq);
}

static __inline__ uint8_t ibv_wc_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
    return cq->read_dlid_path_bits(cq);
}

/** When it completed, in ticks of the device's clock: see completion_timestamp_mask and hca_core_clock. */
static __inline__ uint64_t ibv_wc_read_completion_ts(struct ibv_cq_ex *cq)
{
    return cq->read_completion_ts(cq);
}

/** When it completed, in nanoseconds since 1970. */
static __inline__ uint64_t ibv_wc_read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
    return cq->read_completion_wallclock_ns(cq);
}

/** The VLAN tag that the device removed. */
static __inline__ uint16_t ibv_wc_read_cvlan(struct ibv_cq_ex *cq)
{
    return cq->read_cvlan(cq);
}

/** The tag of the flow that the packet matched; 0: none. */
static __inline__ uint32_t ibv_wc_read_flow_tag(struct ibv_cq_ex *cq)
{
    return cq->read_flow_tag(cq);
}

static __inline__ void ibv_wc_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
    cq->read_tm_info(cq, tm_info);
}

__VERBS_END_DECLS

#endif
