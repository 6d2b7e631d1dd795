/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues: polling, resizing, and the fields of extended ones. */
#include <errno.h>
#include <string.h>

#include "conformance.h"

/* Leaves `count` completions with wr_id 0, 1, ... in side 0's CQ. */
static bool complete_writes(struct pair *pair, unsigned count)
{
    struct ibv_sge sge = sge_of(at(0, 0), 1);
    for (unsigned i = 0; i < count; ++i) {
        struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey), *bad = NULL;
        wr.wr_id = i;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.send_flags = IBV_SEND_SIGNALED;
        for (int tries = 0; ibv_post_send(pair->qp[0], &wr, &bad) != 0; ++tries)
            if (tries == 1000000)
                return false;
    }
    /* All have completed once a message behind them has arrived and its send has. */
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_READ, at(1, 0), env.mr->rkey), *bad = NULL;
    volatile char *flag = at(0, 100);
    struct ibv_sge read = sge_of(at(0, 100), 1);
    wr.sg_list = &read;
    wr.num_sge = 1;
    *flag = 0;
    *at(1, 0) = 1;
    for (int tries = 0; ibv_post_send(pair->qp[0], &wr, &bad) != 0; ++tries)
        if (tries == 1000000)
            return false;
    for (long tries = 0; *flag == 0; ++tries)
        if (tries == 1000000000)
            return false;
    return true;
}

static void poll_many(void)
{
    struct pair pair;
    struct ibv_wc wc[32];
    OPEN(&pair, .send_wr = 63);
    *at(0, 0) = 1;
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 4, wc), 0);
    CHECK(complete_writes(&pair, 20));
    memset(wc, 0xa5, sizeof(wc));
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 0, wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], -1, wc), 0);
    CHECK(all_bytes(wc, sizeof(wc), 0xa5));
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 7, wc), 7);
    CHECK(all_bytes(wc + 7, sizeof(wc) - 7 * sizeof(*wc), 0xa5));
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 32, wc + 7), 13);
    for (unsigned i = 0; i < 20; ++i) {
        CHECK_EQ(wc[i].wr_id, i);
        CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
        CHECK_EQ(wc[i].vendor_err, 0);
    }
    pair_close(&pair);
}

/* Completions that wait stay in order, none is lost or doubled. */
static void resize(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_wr = 127);
    *at(0, 0) = 1;
    CHECK(complete_writes(&pair, 100));
    for (unsigned i = 0; i < 30; ++i) {
        CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
        CHECK_EQ(wc.wr_id, i);
    }
    CHECK_OFFERS(ibv_resize_cq(pair.cq[0], 10), EINVAL); /* 70 are waiting */
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 0), EINVAL);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], -5), EINVAL);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], env.device.max_cqe + 1), EINVAL);
    CHECK_EQ(pair.cq[0]->cqe, 255);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 1000), 0);
    CHECK(pair.cq[0]->cqe >= 1000);
    for (unsigned i = 30; i < 60; ++i) {
        CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
        CHECK_EQ(wc.wr_id, i);
    }
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 60), 0);
    CHECK(pair.cq[0]->cqe >= 60 && pair.cq[0]->cqe < 255);
    for (unsigned i = 60; i < 100; ++i) {
        CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
        CHECK_EQ(wc.wr_id, i);
    }
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    CHECK(complete_writes(&pair, 40)); /* and it still works */
    for (unsigned i = 0; i < 40; ++i) {
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.wr_id, i);
    }
    pair_close(&pair);
}

/* An RC or UD pair whose side 1 completes into an extended CQ. */
static struct ibv_cq_ex *open_extended(struct pair *pair, enum ibv_qp_type type, uint32_t flags)
{
    struct ibv_cq_init_attr_ex attr = {
        .cqe = 60,
        .cq_context = pair,
        .wc_flags = IBV_WC_STANDARD_FLAGS,
        .comp_mask = flags != 0 ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0,
        .flags = flags,
    };
    struct ibv_cq_ex *cq = ibv_create_cq_ex(env.context, &attr);
    if (cq == NULL) {
        if (!test_not_offered("ibv_create_cq_ex"))
            test_fail(__FILE__, __LINE__, "ibv_create_cq_ex: expected an object, saw errno %d (%s)", errno,
                      strerror(errno));
        return NULL;
    }
    struct pair_options options = {.type = type, .unconnected = true};
    if (!pair_open(pair, &options))
        return NULL;
    ibv_destroy_qp(pair->qp[1]);
    ibv_destroy_cq(pair->cq[1]);
    pair->cq[1] = ibv_cq_ex_to_cq(cq);
    struct ibv_qp_init_attr init = {
        .send_cq = pair->cq[1], .recv_cq = pair->cq[1], .cap = {16, 16, 1, 1, 0}, .qp_type = type};
    pair->qp[1] = ibv_create_qp(env.pd, &init);
    return pair->qp[1] != NULL && pair_connect(pair, &options) ? cq : NULL;
}

static int wait_start(struct ibv_cq_ex *cq)
{
    struct ibv_poll_cq_attr attr = {0};
    int error = ENOENT;
    for (long tries = 0; error == ENOENT && tries < 3000000; ++tries)
        error = ibv_start_poll(cq, &attr);
    return error;
}

static void extended(void)
{
    struct pair pair;
    for (uint32_t flags = 0; flags <= IBV_CREATE_CQ_ATTR_SINGLE_THREADED; ++flags) {
        struct ibv_cq_ex *cq = open_extended(&pair, IBV_QPT_RC, flags);
        if (cq == NULL)
            return;
        CHECK(cq->cq_context == &pair && cq->cqe >= 60);
        struct ibv_poll_cq_attr attr = {0};
        CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
        for (uint64_t i = 0; i < 3; ++i) {
            struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = (uint32_t)i + 50};
            struct ibv_wc wc;
            CHECK_EQ(post_recv(pair.qp[1], i + 7, at(1, 100 * i), 100), 0);
            CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10 + (uint32_t)i), 0);
            WAIT_OK(pair.cq[0], &wc);
        }
        CHECK_EQ(wait_start(cq), 0);
        for (uint64_t i = 0; i < 3; ++i) {
            CHECK_EQ(cq->wr_id, i + 7);
            CHECK_EQ(cq->status, IBV_WC_SUCCESS);
            CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
            CHECK_EQ(ibv_wc_read_vendor_err(cq), 0);
            CHECK_EQ(ibv_wc_read_byte_len(cq), 10 + i);
            CHECK_EQ(ibv_wc_read_imm_data(cq), 50 + i);
            CHECK_EQ(ibv_wc_read_qp_num(cq), pair.qp[1]->qp_num);
            CHECK_EQ(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
            CHECK_EQ(ibv_wc_read_slid(cq), 0);
            CHECK_EQ(ibv_wc_read_sl(cq), 0);
            CHECK_EQ(ibv_wc_read_dlid_path_bits(cq), 0);
            CHECK_EQ(ibv_next_poll(cq), i == 2 ? ENOENT : 0);
        }
        ibv_end_poll(cq);
        CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
        pair_close(&pair);
    }
}

/* end_poll takes the completion that it stands on; both ways to poll see the rest. */
static void extended_partly(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq_ex *cq = open_extended(&pair, IBV_QPT_RC, 0);
    if (cq == NULL)
        return;
    for (uint64_t i = 0; i < 5; ++i) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 100 * i), 100), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
        WAIT_OK(pair.cq[0], &wc);
    }
    CHECK_EQ(wait_start(cq), 0);
    CHECK_EQ(cq->wr_id, 0);
    ibv_end_poll(cq);
    CHECK_EQ(wait_start(cq), 0);
    CHECK_EQ(cq->wr_id, 1);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(cq->wr_id, 2);
    ibv_end_poll(cq);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 3);
    CHECK_EQ(wait_start(cq), 0);
    CHECK_EQ(cq->wr_id, 4);
    ibv_end_poll(cq);
    struct ibv_poll_cq_attr attr = {0};
    CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
    pair_close(&pair);
}

static void extended_datagram(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq_ex *cq = open_extended(&pair, IBV_QPT_UD, 0);
    struct ibv_ah *ah = ah_to_self();
    if (cq == NULL)
        return;
    CHECK_MADE(ah, ibv_create_ah);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = pair.qp[1]->qp_num;
    wr.wr.ud.remote_qkey = 0x1234;
    CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 0), 100), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wait_start(cq), 0);
    CHECK_EQ(ibv_wc_read_src_qp(cq), pair.qp[0]->qp_num);
    CHECK_EQ(ibv_wc_read_byte_len(cq), 50);
    CHECK_EQ(ibv_wc_read_wc_flags(cq) & IBV_WC_GRH, IBV_WC_GRH);
    ibv_end_poll(cq);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void refused(void)
{
    static const int sizes[] = {0, -1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
        errno = 0;
        CHECK(ibv_create_cq(env.context, sizes[i], NULL, NULL, 0) == NULL);
        CHECK_EQ(errno, EINVAL);
    }
    errno = 0;
    CHECK(ibv_create_cq(env.context, env.device.max_cqe + 1, NULL, NULL, 0) == NULL);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    CHECK(ibv_create_cq(env.context, 1, NULL, NULL, env.context->num_comp_vectors) == NULL);
    CHECK_EQ(errno, EINVAL);
    struct ibv_cq_init_attr_ex attr = {.cqe = 1, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    errno = 0;
    struct ibv_cq_ex *timed = ibv_create_cq_ex(env.context, &attr); /* not every device has a clock */
    if (timed != NULL)
        CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(timed)), 0);
    else
        CHECK_EQ(errno, EOPNOTSUPP);
    struct ibv_cq *cq = ibv_create_cq(env.context, env.device.max_cqe, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
}

const struct test cq_tests[] = {
    {"poll_many", poll_many, false},
    {"resize", resize, false},
    {"extended", extended, true},
    {"extended_partly", extended_partly, false},
    {"extended_datagram", extended_datagram, false},
    {"refused", refused, false},
    {NULL, NULL, false},
};
