/* SPDX-License-Identifier: BSD-2-Clause */
/* What completes, and how, when a connection breaks. */
#include <string.h>

#include "conformance.h"

/* Requests in a QP that enters the error state come back flushed, in order (IBTA 10.3.1.7). */
static void flush(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (uint64_t i = 0; i < 5; ++i)
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 0), 10), 0);
    CHECK_EQ(qp_to_error(pair.qp[1]), 0);
    CHECK_EQ(pair.qp[1]->state, IBV_QPS_ERR);
    for (uint64_t i = 0; i < 5; ++i) {
        WAIT(pair.cq[1], &wc);
        CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.qp_num, pair.qp[1]->qp_num);
    }
    CHECK(quiet(pair.cq[1]));
    pair_close(&pair);
}

static void flush_sends(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(qp_to_error(pair.qp[0]), 0);
    for (uint64_t i = 0; i < 3; ++i) {
        struct ibv_sge sge = sge_of(at(0, 0), 10);
        struct ibv_send_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND},
                           *bad = NULL;
        CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0); /* not signaled: errors complete all the same */
        WAIT(pair.cq[0], &wc);
        CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(wc.wr_id, i);
    }
    pair_close(&pair);
}

/* Those that are posted afterwards, too. */
static void flush_late_receives(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(qp_to_error(pair.qp[1]), 0);
    for (uint64_t i = 0; i < 3; ++i) {
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 0), 10), 0);
        WAIT(pair.cq[1], &wc);
        CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(wc.wr_id, i);
    }
    pair_close(&pair);
}

/* After an error the rest of the queue is flushed. */
static void error_then_flush(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_sge sge = sge_of(at(0, 0), 10);
    struct ibv_send_wr wr[4], *bad = NULL;
    memset(wr, 0, sizeof(wr));
    for (int i = 0; i < 4; ++i) {
        wr[i] = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), i == 1 ? env.mr->rkey ^ 1 : env.mr->rkey);
        wr[i].wr_id = (uint64_t)i;
        wr[i].sg_list = &sge;
        wr[i].num_sge = 1;
        wr[i].send_flags = i == 0 ? IBV_SEND_SIGNALED : 0;
        wr[i].next = i < 3 ? &wr[i + 1] : NULL;
    }
    CHECK_EQ(ibv_post_send(pair.qp[0], wr, &bad), 0);
    static const enum ibv_wc_status expected[] = {IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR,
                                                  IBV_WC_WR_FLUSH_ERR};
    for (int i = 0; i < 4; ++i) {
        WAIT(pair.cq[0], &wc);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.status, expected[i]);
    }
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

static void receiver_not_ready(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .rnr_retry = 8 | 1);
    struct ibv_send_wr wr = {.wr_id = 6, .opcode = IBV_WR_SEND};
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT(pair.cq[0], &wc);
    CHECK_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK_EQ(wc.wr_id, 6);
    pair_close(&pair);
}

/* rnr_retry 7: for as long as it takes. */
static void receiver_ready_at_last(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    fill(at(0, 0), 100, 1);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 100), 0);
    CHECK(quiet(pair.cq[0]));
    CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 0), 100), 0);
    WAIT_OK(pair.cq[0], &wc);
    WAIT_OK(pair.cq[1], &wc);
    CHECK(filled(at(1, 0), 100, 1));
    pair_close(&pair);
}

static void nobody_there(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(ibv_destroy_qp(pair.qp[1]), 0);
    pair.qp[1] = NULL;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT(pair.cq[0], &wc);
    CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
    pair_close(&pair);
}

static void too_long(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    memset(at(0, 0), 0x44, 200);
    CHECK_EQ(post_recv(pair.qp[1], 9, at(1, 0), 100), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 101), 0);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 9);
    CHECK(wc.status == IBV_WC_LOC_LEN_ERR || wc.status == IBV_WC_LOC_QP_OP_ERR); /* rxe tells the latter */
    WAIT(pair.cq[0], &wc);
    CHECK(wc.status == IBV_WC_REM_INV_REQ_ERR || wc.status == IBV_WC_REM_OP_ERR);
    CHECK(all_bytes(at(1, 100), 100, 0));
    pair_close(&pair);
}

/* A QP that failed can be reset and used again. */
static void reuse(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 0), 10), 0);
    for (int side = 0; side < 2; ++side)
        CHECK_EQ(qp_to_error(pair.qp[side]), 0);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    for (int side = 0; side < 2; ++side) {
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
        CHECK_EQ(ibv_modify_qp(pair.qp[side], &attr, IBV_QP_STATE), 0);
        CHECK_EQ(pair.qp[side]->state, IBV_QPS_RESET);
        CHECK_EQ(qp_to_init(pair.qp[side], IBV_ACCESS_REMOTE_WRITE), 0);
        CHECK_EQ(qp_to_rtr(pair.qp[side], pair.qp[1 - side]->qp_num), 0);
        CHECK_EQ(qp_to_rts(pair.qp[side], 7), 0);
    }
    fill(at(0, 0), 50, 1);
    CHECK_EQ(post_recv(pair.qp[1], 2, at(1, 0), 50), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 50), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 2);
    CHECK(filled(at(1, 0), 50, 1));
    WAIT_OK(pair.cq[0], &wc);
    pair_close(&pair);
}

const struct test failure_tests[] = {
    {"flush", flush, false},
    {"flush_sends", flush_sends, false},
    {"flush_late_receives", flush_late_receives, true},
    {"error_then_flush", error_then_flush, false},
    {"receiver_not_ready", receiver_not_ready, false},
    {"receiver_ready_at_last", receiver_ready_at_last, false},
    {"nobody_there", nobody_there, false},
    {"too_long", too_long, false},
    {"reuse", reuse, false},
    {NULL, NULL, false},
};
