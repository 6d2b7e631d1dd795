/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of verbs_data share: two processes, one connection, memory of which every byte is checked. */
#ifndef VERBENA_TESTS_APPS_DATA_H
#define VERBENA_TESTS_APPS_DATA_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "peer.h"

enum {
    kGrh = 40,
    kGuard = 64,              /* bytes around what arrives that must stay as they are */
    kLargest = 8 << 20,       /* of a message */
    kRegion = kLargest + 4096 /* of memory for messages of one direction */
};

/* What each tells the other. */
struct side {
    uint32_t qpn, xrc_qpn, srqn, rkey;
    uint64_t address;
    union ibv_gid gid;
    uint32_t mtu;
};

struct data {
    enum ibv_qp_type type; /* IBV_QPT_XRC_SEND stands for XRC */
    const char *type_name;
    bool is_client;
    uint32_t timeout; /* of the QPs, as ibv_qp_attr has it */
    int peer;         /* a TCP socket */
    struct side mine, theirs;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *send_cq, *receive_cq;
    struct ibv_qp *qp, *receive_qp; /* the same but for XRC */
    struct ibv_srq *srq;            /* of XRC */
    struct ibv_xrcd *xrcd;
    struct ibv_ah *ah; /* of UD */
    struct ibv_mr *mr;
    uint8_t *memory; /* kRegion bytes to send from, then as many to receive to */
    uint32_t lost;   /* messages of UC or UD that did not arrive and were sent again */
};

/* A completion that comes within some time; false where none does. */
bool poll_within(struct ibv_cq *cq, struct ibv_wc *wc, double seconds);
void post_receive(struct data *data, uint64_t id, uint8_t *memory, uint32_t length);
void post_send(struct data *data, struct ibv_send_wr *wr, uint8_t *memory, uint32_t length);

/* All sizes, one message at a time. */
void run_sizes(struct data *data);
/* A stream of `amount` bytes each way, both at once. */
void run_stream(struct data *data, uint64_t amount);

#endif
