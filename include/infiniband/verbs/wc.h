/* SPDX-License-Identifier: BSD-2-Clause */
/* Work completions: how a work request ended (IBTA 11.4.2.1, 11.6.2). */
#ifndef INFINIBAND_VERBS_WC_H
#define INFINIBAND_VERBS_WC_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** IBTA 11.6.2. After any but SUCCESS only wr_id, status, vendor_err and qp_num of an ibv_wc are valid. */
enum ibv_wc_status {
    IBV_WC_SUCCESS,
    IBV_WC_LOC_LEN_ERR,   /* the message is longer than the buffers, or than it may be */
    IBV_WC_LOC_QP_OP_ERR, /* an inconsistency in the QP */
    IBV_WC_LOC_EEC_OP_ERR,
    IBV_WC_LOC_PROT_ERR, /* a scatter/gather entry is not in a region that allows this */
    IBV_WC_WR_FLUSH_ERR, /* the QP went to the error state before */
    IBV_WC_MW_BIND_ERR,
    IBV_WC_BAD_RESP_ERR,      /* an unexpected opcode in a response */
    IBV_WC_LOC_ACCESS_ERR,    /* an incoming RDMA WRITE with immediate violated access rights */
    IBV_WC_REM_INV_REQ_ERR,   /* the responder found the request invalid */
    IBV_WC_REM_ACCESS_ERR,    /* the responder found that rights are missing */
    IBV_WC_REM_OP_ERR,        /* the responder could not complete it */
    IBV_WC_RETRY_EXC_ERR,     /* no answer, retry_cnt times */
    IBV_WC_RNR_RETRY_EXC_ERR, /* no receive posted, rnr_retry times */
    IBV_WC_LOC_RDD_VIOL_ERR,
    IBV_WC_REM_INV_RD_REQ_ERR,
    IBV_WC_REM_ABORT_ERR,
    IBV_WC_INV_EECN_ERR,
    IBV_WC_INV_EEC_STATE_ERR,
    IBV_WC_FATAL_ERR,
    IBV_WC_RESP_TIMEOUT_ERR,
    IBV_WC_GENERAL_ERR,       /* anything else: see vendor_err */
    IBV_WC_TM_ERR,            /* tag matching failed */
    IBV_WC_TM_RNDV_INCOMPLETE /* the tag matched; software has to read the data */
};

/** What completed. `opcode & IBV_WC_RECV` tells receives from all others. */
enum ibv_wc_opcode {
    IBV_WC_SEND,
    IBV_WC_RDMA_WRITE,
    IBV_WC_RDMA_READ,
    IBV_WC_COMP_SWAP,
    IBV_WC_FETCH_ADD,
    IBV_WC_BIND_MW,
    IBV_WC_LOCAL_INV,
    IBV_WC_TSO,
    IBV_WC_FLUSH,
    IBV_WC_ATOMIC_WRITE,
    IBV_WC_RECV = 1 << 7,
    IBV_WC_RECV_RDMA_WITH_IMM,
    IBV_WC_TM_ADD,
    IBV_WC_TM_DEL,
    IBV_WC_TM_SYNC,
    IBV_WC_TM_RECV,
    IBV_WC_TM_NO_TAG,
    IBV_WC_DRIVER1,
    IBV_WC_DRIVER2,
    IBV_WC_DRIVER3
};

enum { IBV_WC_IP_CSUM_OK_SHIFT = 2 };

enum ibv_wc_flags {
    IBV_WC_GRH = 1 << 0,      /* UD: the first 40 bytes are a GRH, or its place */
    IBV_WC_WITH_IMM = 1 << 1, /* imm_data is valid */
    IBV_WC_IP_CSUM_OK = 1 << IBV_WC_IP_CSUM_OK_SHIFT,
    IBV_WC_WITH_INV = 1 << 3, /* invalidated_rkey is valid */
    IBV_WC_TM_SYNC_REQ = 1 << 4,
    IBV_WC_TM_MATCH = 1 << 5,
    IBV_WC_TM_DATA_VALID = 1 << 6
};

/** Work completion. */
struct ibv_wc {
    uint64_t wr_id;
    enum ibv_wc_status status;
    enum ibv_wc_opcode opcode;
    uint32_t vendor_err;
    uint32_t byte_len; /* of what was received, READ or fetched */
    __extension__ union {
        __be32 imm_data;
        uint32_t invalidated_rkey;
    };
    uint32_t qp_num;       /* the local QP */
    uint32_t src_qp;       /* UD: the sender's */
    unsigned int wc_flags; /* enum ibv_wc_flags */
    uint16_t pkey_index;   /* special QPs only */
    uint16_t slid;         /* UD: the sender's LID */
    uint8_t sl;
    uint8_t dlid_path_bits;
};

/** What to call this status; never NULL. */
const char *ibv_wc_status_str(enum ibv_wc_status status);

__VERBS_END_DECLS

#endif
