/* SPDX-License-Identifier: BSD-2-Clause */
/* Work requests: what is posted to the queues (IBTA 10.7). */
#ifndef INFINIBAND_VERBS_WR_H
#define INFINIBAND_VERBS_WR_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** A piece of registered memory: an entry of a scatter/gather list (IBTA 10.7.3). */
struct ibv_sge {
    uint64_t addr; /* in the region of lkey */
    uint32_t length;
    uint32_t lkey;
};

/** A piece of memory that needs no registration: its bytes are copied. */
struct ibv_data_buf {
    void *addr;
    size_t length;
};

/** What a memory window is bound to. A length of 0 unbinds it. */
struct ibv_mw_bind_info {
    struct ibv_mr *mr; /* has IBV_ACCESS_MW_BIND */
    uint64_t addr;
    uint64_t length;
    unsigned int mw_access_flags; /* enum ibv_access_flags; only REMOTE_* and ZERO_BASED */
};

/** Operations of a send queue (IBTA 10.7.2). */
enum ibv_wr_opcode {
    IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_WRITE_WITH_IMM,
    IBV_WR_SEND,
    IBV_WR_SEND_WITH_IMM,
    IBV_WR_RDMA_READ,
    IBV_WR_ATOMIC_CMP_AND_SWP,
    IBV_WR_ATOMIC_FETCH_AND_ADD,
    IBV_WR_LOCAL_INV,
    IBV_WR_BIND_MW,
    IBV_WR_SEND_WITH_INV,
    IBV_WR_TSO,
    IBV_WR_DRIVER1,
    IBV_WR_FLUSH = 14,
    IBV_WR_ATOMIC_WRITE = 15
};

enum ibv_send_flags {
    IBV_SEND_FENCE = 1 << 0,     /* starts after all earlier READs and atomics */
    IBV_SEND_SIGNALED = 1 << 1,  /* gives a completion, on a QP without sq_sig_all */
    IBV_SEND_SOLICITED = 1 << 2, /* its receiver's completion is a solicited one */
    IBV_SEND_INLINE = 1 << 3,    /* the data is copied before the post returns; lkeys do not count */
    IBV_SEND_IP_CSUM = 1 << 4    /* the device computes IPv4, TCP and UDP checksums */
};

/** Send work request. The list and what it points to are the caller's again when the post returns. */
struct ibv_send_wr {
    uint64_t wr_id; /* comes back in the completion */
    struct ibv_send_wr *next;
    struct ibv_sge *sg_list;
    int num_sge;
    enum ibv_wr_opcode opcode;
    unsigned int send_flags; /* enum ibv_send_flags */
    __extension__ union {
        __be32 imm_data;          /* of *_WITH_IMM */
        uint32_t invalidate_rkey; /* of SEND_WITH_INV and LOCAL_INV */
    };
    union {
        struct {
            uint64_t remote_addr;
            uint32_t rkey;
        } rdma;
        struct {
            uint64_t remote_addr; /* a multiple of 8 */
            uint64_t compare_add; /* compared with, or added */
            uint64_t swap;
            uint32_t rkey;
        } atomic;
        struct {
            struct ibv_ah *ah;
            uint32_t remote_qpn;
            uint32_t remote_qkey; /* with the high bit set, the QP's own is used (IBTA 10.2.5) */
        } ud;
    } wr;
    union {
        struct {
            uint32_t remote_srqn;
        } xrc;
    } qp_type;
    __extension__ union {
        struct {
            struct ibv_mw *mw;
            uint32_t rkey; /* the key the window gets: ibv_inc_rkey of its last */
            struct ibv_mw_bind_info bind_info;
        } bind_mw;
        struct {
            void *hdr;
            uint16_t hdr_sz; /* bytes */
            uint16_t mss;    /* bytes */
        } tso;
    };
};

/** Receive work request. */
struct ibv_recv_wr {
    uint64_t wr_id;
    struct ibv_recv_wr *next;
    struct ibv_sge *sg_list;
    int num_sge;
};

/** List operations of a tag-matching SRQ. */
enum ibv_ops_wr_opcode {
    IBV_WR_TAG_ADD, /* append a tagged buffer */
    IBV_WR_TAG_DEL, /* remove the one with tm.handle */
    IBV_WR_TAG_SYNC /* tell the device how many unexpected messages software has seen */
};

enum ibv_ops_flags {
    IBV_OPS_SIGNALED = 1 << 0, /* gives a completion */
    IBV_OPS_TM_SYNC = 1 << 1   /* unexpected_cnt is valid */
};

/** Work request for ibv_post_srq_ops. */
struct ibv_ops_wr {
    uint64_t wr_id;
    struct ibv_ops_wr *next;
    enum ibv_ops_wr_opcode opcode;
    int flags; /* enum ibv_ops_flags */
    struct {
        uint32_t unexpected_cnt;
        uint32_t handle; /* set by TAG_ADD, given to TAG_DEL */
        struct {
            uint64_t recv_wr_id; /* comes back when the buffer is consumed */
            struct ibv_sge *sg_list;
            int num_sge;
            uint64_t tag;
            uint64_t mask; /* the bits of tag that count */
        } add;
    } tm;
};

__VERBS_END_DECLS

#endif
