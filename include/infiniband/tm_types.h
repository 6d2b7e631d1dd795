/* SPDX-License-Identifier: BSD-2-Clause */
/* Wire headers of hardware tag matching: what a message on a tag-matching SRQ (IBV_SRQT_TM) starts with. */
#ifndef _TM_TYPES_H
#define _TM_TYPES_H

#include <linux/types.h>
#include <stdint.h>

/** Operation of a tag-matching message, the first byte of its header. */
enum ibv_tmh_op {
    IBV_TMH_NO_TAG = 0, /* ordinary message: not matched */
    IBV_TMH_RNDV = 1,   /* rendezvous request: an ibv_rvh follows, the receiver reads the data */
    IBV_TMH_FIN = 2,    /* the receiver has read all of a rendezvous message */
    IBV_TMH_EAGER = 3   /* the data follows at once */
};

/** Tag-matching header, 16 bytes. */
struct ibv_tmh {
    uint8_t opcode;      /* enum ibv_tmh_op */
    uint8_t reserved[3]; /* zero */
    __be32 app_ctx;      /* opaque to the device, returned in ibv_wc_tm_info.priv */
    __be64 tag;          /* compared with ibv_ops_wr.tm.add.tag under its mask */
};

/** Rendezvous header, 16 bytes: where the sender's data can be read. */
struct ibv_rvh {
    __be64 va;
    __be32 rkey;
    __be32 len; /* bytes */
};

#endif
