/* SPDX-License-Identifier: BSD-2-Clause */
/* What the conformance cases share: an open device, and two QPs that are connected over loopback. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <infiniband/verbs.h>

#include "case.h"

extern const struct test rc_tests[], datagram_tests[], srq_tests[], mw_tests[], wr_tests[], cq_tests[],
    event_tests[], protection_tests[], failure_tests[], post_tests[], object_tests[], import_tests[],
    domain_tests[], memory_tests[], comp_cntr_tests[], iwarp_tests[], raw_tests[], wq_tests[], tag_tests[];

/* ---- the device ------------------------------------------------------------------------------------------------ */

enum {
    kSideSize = 65536, /* bytes of memory that each of the two sides has */
    kAllRemote = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC
};

/* What all tests use; `memory` is two sides of kSideSize bytes, registered with every access as `mr`. */
extern struct environment {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    char *memory;
    struct ibv_device_attr device;
    uint8_t port;
    uint16_t lid; /* 0 but on InfiniBand */
    int gid_index;
    union ibv_gid gid;
    bool iwarp;
} env;

char *at(int side, size_t offset);
uint64_t address(const void *pointer);
struct ibv_sge sge_of(const void *pointer, uint32_t length);
void fill(void *memory, size_t length, unsigned seed);
bool filled(const void *memory, size_t length, unsigned seed);
bool all_bytes(const void *memory, size_t length, int value);

/* ---- pairs of QPs ---------------------------------------------------------------------------------------------- */

struct pair_options {
    enum ibv_qp_type type; /* IBV_QPT_RC if 0 */
    int sq_sig_all;
    uint32_t send_wr, recv_wr, sge, inline_data; /* 16, 16, 4 and 64 if 0 */
    uint64_t send_ops;                           /* makes extended QPs */
    struct ibv_srq *srq;                         /* of side 1 */
    struct ibv_comp_channel *channel;            /* of side 1's CQ */
    uint8_t rnr_retry;                           /* 7 if 0: without end; 8 means 0 */
    bool few_rights;                             /* no remote access through the QPs */
    bool unconnected;                            /* leaves both in RESET */
};

struct pair {
    struct ibv_cq *cq[2];
    struct ibv_qp *qp[2];
    struct connection *connection; /* of librdmacm, where the device is iWARP */
};

/* False and a failed test where an object is refused. */
bool pair_open(struct pair *pair, const struct pair_options *options);
bool pair_connect(struct pair *pair, const struct pair_options *options);
void pair_close(struct pair *pair);
#define OPEN(pair, ...)                                            \
    do {                                                           \
        if (!pair_open(pair, &(struct pair_options){__VA_ARGS__})) \
            return;                                                \
    } while (0)

int qp_to_init(struct ibv_qp *qp, int access);
int qp_to_rtr(struct ibv_qp *qp, uint32_t remote_qpn);
int qp_to_rts(struct ibv_qp *qp, uint8_t rnr_retry);
int qp_to_error(struct ibv_qp *qp);
struct ibv_ah *ah_to_self(void);

int post_recv(struct ibv_qp *qp, uint64_t wr_id, void *memory, uint32_t length);
/* One request; fills in opcode, data, wr_id and IBV_SEND_SIGNALED where `wr` leaves them at zero. */
int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, void *memory, uint32_t length);
struct ibv_send_wr rdma_wr(enum ibv_wr_opcode opcode, const void *remote, uint32_t rkey);

/* Waits for one completion, up to some seconds; whether it came. */
bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc);
/* No completion comes within a while. */
bool quiet(struct ibv_cq *cq);

#define WAIT(cq, wc) CHECK(wait_wc(cq, wc))
#define WAIT_OK(cq, wc)                         \
    do {                                        \
        WAIT(cq, wc);                           \
        CHECK_EQ((wc)->status, IBV_WC_SUCCESS); \
    } while (0)

/* ---- iWARP ------------------------------------------------------------------------------------------------------- */

/* Connects two QPs in INIT through librdmacm, the only way that iWARP has; NULL and a failed test if that fails. */
struct connection *iwarp_connect(uint32_t active_qpn, uint32_t passive_qpn);
void iwarp_disconnect(struct connection *connection);

#endif
