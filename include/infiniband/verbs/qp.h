/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs (IBTA 10.2.4, 10.3). */
#ifndef INFINIBAND_VERBS_QP_H
#define INFINIBAND_VERBS_QP_H

#include <infiniband/verbs/ah.h>
#include <infiniband/verbs/port.h>
#include <infiniband/verbs/rate.h>
#include <infiniband/verbs/srq.h>
#include <infiniband/verbs/wq.h>

__VERBS_BEGIN_DECLS

/** Transport services (IBTA 9.7, 9.8). */
enum ibv_qp_type {
    IBV_QPT_RC = 2,         /* reliable connection */
    IBV_QPT_UC,             /* unreliable connection */
    IBV_QPT_UD,             /* unreliable datagram */
    IBV_QPT_RAW_PACKET = 8, /* Ethernet frames as they are */
    IBV_QPT_XRC_SEND = 9,
    IBV_QPT_XRC_RECV,
    IBV_QPT_DRIVER = 0xff /* a provider's own */
};

/** IBTA 10.3.1. */
enum ibv_qp_state {
    IBV_QPS_RESET,
    IBV_QPS_INIT, /* receives may be posted */
    IBV_QPS_RTR,  /* receives */
    IBV_QPS_RTS,  /* receives and sends */
    IBV_QPS_SQD,  /* the send queue drains */
    IBV_QPS_SQE,  /* the send queue failed; not RC */
    IBV_QPS_ERR,  /* all work is flushed */
    IBV_QPS_UNKNOWN
};

/** Path migration (IBTA 17.2.8). */
enum ibv_mig_state { IBV_MIG_MIGRATED, IBV_MIG_REARM, IBV_MIG_ARMED };

/** Room in the queues: what is asked for, and on return what there is. */
struct ibv_qp_cap {
    uint32_t max_send_wr;
    uint32_t max_recv_wr;
    uint32_t max_send_sge;
    uint32_t max_recv_sge;
    uint32_t max_inline_data; /* bytes */
};

/** Queue pair. Programs read it; only the library and the provider write it. */
struct ibv_qp {
    struct ibv_context *context;
    void *qp_context;
    struct ibv_pd *pd;
    struct ibv_cq *send_cq;
    struct ibv_cq *recv_cq;
    struct ibv_srq *srq;
    uint32_t handle;
    uint32_t qp_num;
    enum ibv_qp_state state; /* as the last ibv_modify_qp or ibv_query_qp left it */
    enum ibv_qp_type qp_type;

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
};

/** What a QP is made from (IBTA 11.2.4.1). */
struct ibv_qp_init_attr {
    void *qp_context;
    struct ibv_cq *send_cq;
    struct ibv_cq *recv_cq;
    struct ibv_srq *srq; /* or NULL */
    struct ibv_qp_cap cap;
    enum ibv_qp_type qp_type;
    int sq_sig_all; /* every send gives a completion */
};

enum ibv_qp_init_attr_mask {
    IBV_QP_INIT_ATTR_PD = 1 << 0,
    IBV_QP_INIT_ATTR_XRCD = 1 << 1,
    IBV_QP_INIT_ATTR_CREATE_FLAGS = 1 << 2,
    IBV_QP_INIT_ATTR_MAX_TSO_HEADER = 1 << 3,
    IBV_QP_INIT_ATTR_IND_TABLE = 1 << 4,
    IBV_QP_INIT_ATTR_RX_HASH = 1 << 5,
    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 1 << 6
};

enum ibv_qp_create_flags {
    IBV_QP_CREATE_BLOCK_SELF_MCAST_LB = 1 << 1, /* own multicast does not come back */
    IBV_QP_CREATE_SCATTER_FCS = 1 << 8,         /* received frames keep their checksum */
    IBV_QP_CREATE_CVLAN_STRIPPING = 1 << 9,     /* received frames lose their VLAN tag */
    IBV_QP_CREATE_SOURCE_QPN = 1 << 10,         /* sends as source_qpn */
    IBV_QP_CREATE_PCI_WRITE_END_PADDING = 1 << 11
};

/** Operations that the QP's ibv_wr functions are to have. */
enum ibv_qp_create_send_ops_flags {
    IBV_QP_EX_WITH_RDMA_WRITE = 1 << 0,
    IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM = 1 << 1,
    IBV_QP_EX_WITH_SEND = 1 << 2,
    IBV_QP_EX_WITH_SEND_WITH_IMM = 1 << 3,
    IBV_QP_EX_WITH_RDMA_READ = 1 << 4,
    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP = 1 << 5,
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD = 1 << 6,
    IBV_QP_EX_WITH_LOCAL_INV = 1 << 7,
    IBV_QP_EX_WITH_BIND_MW = 1 << 8,
    IBV_QP_EX_WITH_SEND_WITH_INV = 1 << 9,
    IBV_QP_EX_WITH_TSO = 1 << 10,
    IBV_QP_EX_WITH_FLUSH = 1 << 11,
    IBV_QP_EX_WITH_ATOMIC_WRITE = 1 << 12
};

/** How received packets are spread over an indirection table. */
struct ibv_rx_hash_conf {
    uint8_t rx_hash_function; /* enum ibv_rx_hash_function_flags */
    uint8_t rx_hash_key_len;  /* bytes */
    uint8_t *rx_hash_key;
    uint64_t rx_hash_fields_mask; /* enum ibv_rx_hash_fields */
};

/** Begins as struct ibv_qp_init_attr. */
struct ibv_qp_init_attr_ex {
    void *qp_context;
    struct ibv_cq *send_cq;
    struct ibv_cq *recv_cq;
    struct ibv_srq *srq;
    struct ibv_qp_cap cap;
    enum ibv_qp_type qp_type;
    int sq_sig_all;

    uint32_t comp_mask; /* enum ibv_qp_init_attr_mask */
    struct ibv_pd *pd;
    struct ibv_xrcd *xrcd;   /* XRC_RECV */
    uint32_t create_flags;   /* enum ibv_qp_create_flags */
    uint16_t max_tso_header; /* bytes */
    struct ibv_rwq_ind_table *rwq_ind_tbl;
    struct ibv_rx_hash_conf rx_hash_conf;
    uint32_t source_qpn;
    uint64_t send_ops_flags; /* enum ibv_qp_create_send_ops_flags */
};

enum ibv_qp_open_attr_mask {
    IBV_QP_OPEN_ATTR_NUM = 1 << 0,
    IBV_QP_OPEN_ATTR_XRCD = 1 << 1,
    IBV_QP_OPEN_ATTR_CONTEXT = 1 << 2,
    IBV_QP_OPEN_ATTR_TYPE = 1 << 3,
    IBV_QP_OPEN_ATTR_RESERVED = 1 << 4
};

/** Which XRC_RECV QP to open. */
struct ibv_qp_open_attr {
    uint32_t comp_mask; /* enum ibv_qp_open_attr_mask */
    uint32_t qp_num;
    struct ibv_xrcd *xrcd;
    void *qp_context;
    enum ibv_qp_type qp_type;
};

/** Which members of an ibv_qp_attr count (IBTA 11.2.4.2 lists which each transition needs and allows). */
enum ibv_qp_attr_mask {
    IBV_QP_STATE = 1 << 0,
    IBV_QP_CUR_STATE = 1 << 1,
    IBV_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
    IBV_QP_ACCESS_FLAGS = 1 << 3,
    IBV_QP_PKEY_INDEX = 1 << 4,
    IBV_QP_PORT = 1 << 5,
    IBV_QP_QKEY = 1 << 6,
    IBV_QP_AV = 1 << 7,
    IBV_QP_PATH_MTU = 1 << 8,
    IBV_QP_TIMEOUT = 1 << 9,
    IBV_QP_RETRY_CNT = 1 << 10,
    IBV_QP_RNR_RETRY = 1 << 11,
    IBV_QP_RQ_PSN = 1 << 12,
    IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13,
    IBV_QP_ALT_PATH = 1 << 14,
    IBV_QP_MIN_RNR_TIMER = 1 << 15,
    IBV_QP_SQ_PSN = 1 << 16,
    IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
    IBV_QP_PATH_MIG_STATE = 1 << 18,
    IBV_QP_CAP = 1 << 19,
    IBV_QP_DEST_QPN = 1 << 20,
    /* Bits 21 to 24 belong to the kernel. */
    IBV_QP_RATE_LIMIT = 1 << 25
};

/** Attributes of a QP. Byte order is the host's but for the GIDs. */
struct ibv_qp_attr {
    enum ibv_qp_state qp_state;
    enum ibv_qp_state cur_qp_state;
    enum ibv_mtu path_mtu;
    enum ibv_mig_state path_mig_state;
    uint32_t qkey; /* UD */
    uint32_t rq_psn;
    uint32_t sq_psn;
    uint32_t dest_qp_num;
    unsigned int qp_access_flags; /* what the peer may: enum ibv_access_flags REMOTE_* */
    struct ibv_qp_cap cap;
    struct ibv_ah_attr ah_attr;
    struct ibv_ah_attr alt_ah_attr;
    uint16_t pkey_index;
    uint16_t alt_pkey_index;
    uint8_t en_sqd_async_notify;
    uint8_t sq_draining;
    uint8_t max_rd_atomic;      /* READs and atomics outstanding as the requester */
    uint8_t max_dest_rd_atomic; /* and as the responder */
    uint8_t min_rnr_timer;      /* encoded (IBTA 9.7.5.2.8): 1 is 10 us, 12 is 640 us, 0 is 655 ms */
    uint8_t port_num;
    uint8_t timeout;   /* 4.096 us * 2^value until a retry; 0: for ever */
    uint8_t retry_cnt; /* 0 to 7 */
    uint8_t rnr_retry; /* 0 to 6; 7: for ever */
    uint8_t alt_port_num;
    uint8_t alt_timeout;
    uint32_t rate_limit; /* kbit/s; 0: none */
};

/** Pacing of a raw packet QP. */
struct ibv_qp_rate_limit_attr {
    uint32_t rate_limit;     /* kbit/s; 0: none */
    uint32_t max_burst_sz;   /* bytes */
    uint16_t typical_pkt_sz; /* bytes */
    uint32_t comp_mask;      /* 0 */
};

/** Enhanced connection establishment: options that two ends of the same vendor agree on (IBTA 12.6). */
struct ibv_ece {
    uint32_t vendor_id; /* IEEE OUI; 0: none */
    uint32_t options;   /* the vendor's */
    uint32_t comp_mask; /* 0 */
};

/** Kinds of question to ibv_query_qp_data_in_order. */
enum ibv_query_qp_data_in_order_flags {
    IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS = 1 << 0, /* answer with enum ibv_query_qp_data_in_order_caps */
    IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY = 1 << 1  /* what the device does, whatever the CPU makes of it */
};

enum ibv_query_qp_data_in_order_caps {
    IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG = 1 << 0,        /* all of a message is written in order */
    IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES = 1 << 1 /* each aligned 128 bytes are */
};

/** Whether `caps`, a supported_qpts of the device's attributes, has the type. */
static __inline__ int ibv_is_qpt_supported(uint32_t caps, enum ibv_qp_type qpt)
{
    unsigned int bit = __verbs_cast(unsigned int, qpt);

    return bit < 32 && ((caps >> bit) & 1);
}

/**
 * Makes a QP in the state RESET, which the caller owns; qp_init_attr->cap tells afterwards what it really
 * holds, at least what was asked for (IBTA 11.2.4.1).
 *
 * Returns NULL and errno: EINVAL past a limit, ENOMEM, EOPNOTSUPP for a type that the device has not.
 */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);

/**
 * Makes a QP of any kind; one with nothing but a PD is that of ibv_create_qp.
 *
 * Returns NULL and errno: EOPNOTSUPP when the provider knows no other or not what comp_mask names, EINVAL.
 */
static __inline__ struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context,
                                                  struct ibv_qp_init_attr_ex *qp_init_attr_ex)
{
    struct verbs_context *vctx;

    if (qp_init_attr_ex->comp_mask == IBV_QP_INIT_ATTR_PD)
        return ibv_create_qp(qp_init_attr_ex->pd,
                             __verbs_pointer_cast(struct ibv_qp_init_attr *, qp_init_attr_ex));

    vctx = verbs_get_ctx_op(context, create_qp_ex);
    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->create_qp_ex(context, qp_init_attr_ex);
}

/** Opens an XRC_RECV QP that another process made. Returns NULL and errno: EOPNOTSUPP, EINVAL. */
static __inline__ struct ibv_qp *ibv_open_qp(struct ibv_context *context,
                                             struct ibv_qp_open_attr *qp_open_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, open_qp);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->open_qp(context, qp_open_attr);
}

/**
 * Changes the attributes that `attr_mask` names, in one step or not at all (IBTA 11.2.4.2).
 *
 * Returns 0, or the errno value: EINVAL for a transition that is not allowed or attributes that do not fit
 * it.
 */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

/** Changes the pacing of a QP in RTR or RTS. Returns 0, or the errno value: EOPNOTSUPP, EINVAL. */
static __inline__ int ibv_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(qp->context, modify_qp_rate_limit);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->modify_qp_rate_limit(qp, attr);
}

/**
 * Reads a QP's attributes and what it was made from (IBTA 11.2.4.3). `attr_mask` names those that are needed;
 * others may be read too.
 *
 * Returns 0, or the errno value.
 */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
                 struct ibv_qp_init_attr *init_attr);

/**
 * Whether the bytes that `op` (a READ of this QP, a WRITE or SEND of its peer) brings here become visible in
 * order, so that a reader may wait for the last one instead of the completion. `flags` is 0, or of enum
 * ibv_query_qp_data_in_order_flags.
 *
 * Returns 1 or 0 for whole messages; with RETURN_CAPS, a set of enum ibv_query_qp_data_in_order_caps. 0 for
 * unknown flags.
 */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

/**
 * Destroys a QP; what is posted does not complete any more. It waits until its events have been given back.
 *
 * Returns 0, or the errno value: EBUSY while it is in a multicast group.
 */
int ibv_destroy_qp(struct ibv_qp *qp);

/** Gives the QP the ECE options to use, before RTR. Returns 0, or the errno value: EOPNOTSUPP, EINVAL. */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/** Reads the ECE options: before a connection those offered, after it those in use. Returns 0, or the errno
 * value. */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/**
 * Posts a list of sends (IBTA 11.4.1.1). It stops at the first that fails, and `*bad_wr` is that one; those
 * before it are posted. Threads may post at the same time, unless the QP has a thread domain.
 *
 * Returns 0, or the errno value: ENOMEM when the queue is full, EINVAL.
 */
static __inline__ int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    return qp->context->ops.post_send(qp, wr, bad_wr);
}

/** Posts a list of receives to a QP without an SRQ (IBTA 11.4.1.2); as ibv_post_send. */
static __inline__ int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    return qp->context->ops.post_recv(qp, wr, bad_wr);
}

__VERBS_END_DECLS

#endif
