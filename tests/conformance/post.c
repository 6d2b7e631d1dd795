/* SPDX-License-Identifier: BSD-2-Clause */
/* Work requests that are refused when they are posted: those in front of the bad one are posted, no others. */
#include <errno.h>
#include <string.h>

#include "conformance.h"

/* Posts three writes of which the second is `middle`; checks the error and that only the first completes. */
static void refused_second(struct pair *pair, struct ibv_send_wr *middle, int expected)
{
    struct ibv_wc wc;
    struct ibv_sge sge = sge_of(at(0, 0), 8);
    struct ibv_send_wr first = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey), last = first, *bad = NULL;
    first.wr_id = 1;
    last.wr_id = 3;
    first.sg_list = last.sg_list = &sge;
    first.num_sge = last.num_sge = 1;
    first.send_flags = last.send_flags = IBV_SEND_SIGNALED;
    first.next = middle;
    middle->next = &last;
    CHECK_EQ(ibv_post_send(pair->qp[0], &first, &bad), expected);
    CHECK(bad == middle);
    WAIT_OK(pair->cq[0], &wc);
    CHECK_EQ(wc.wr_id, 1);
    CHECK(quiet(pair->cq[0]));
}

static void too_many_sges(void)
{
    struct pair pair;
    struct ibv_sge sges[64];
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    OPEN(&pair, .sge = 2, .inline_data = 1);
    CHECK_EQ(ibv_query_qp(pair.qp[0], &attr, IBV_QP_CAP, &init), 0);
    for (int i = 0; i < 64; ++i)
        sges[i] = sge_of(at(0, 0), 1);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey);
    wr.sg_list = sges;
    wr.num_sge = (int)init.cap.max_send_sge + 1;
    refused_second(&pair, &wr, EINVAL);
    wr.num_sge = -1;
    refused_second(&pair, &wr, EINVAL);
    wr.send_flags = IBV_SEND_INLINE;
    refused_second(&pair, &wr, EINVAL);

    struct ibv_recv_wr bad_recv = {.sg_list = sges, .num_sge = (int)init.cap.max_recv_sge + 1}, *bad = NULL;
    struct ibv_recv_wr recv = {.next = &bad_recv, .sg_list = sges, .num_sge = 1};
    CHECK_EQ(ibv_post_recv(pair.qp[1], &recv, &bad), EINVAL);
    CHECK(bad == &bad_recv);
    bad_recv.num_sge = -1;
    CHECK_EQ(ibv_post_recv(pair.qp[1], &bad_recv, &bad), EINVAL);
    pair_close(&pair);
}

static void inline_too_long(void)
{
    struct pair pair;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    OPEN(&pair, .inline_data = 100);
    CHECK_EQ(ibv_query_qp(pair.qp[0], &attr, IBV_QP_CAP, &init), 0);
    CHECK(init.cap.max_inline_data >= 100);
    struct ibv_sge sge = sge_of(at(0, 0), init.cap.max_inline_data + 1);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey);
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_INLINE;
    refused_second(&pair, &wr, EINVAL);
    pair_close(&pair);
}

static void bad_atomics(void)
{
    struct pair pair;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_sge sge = sge_of(at(0, 0), 4);
    struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge, .num_sge = 1};
    wr.wr.atomic.remote_addr = address(at(1, 0));
    wr.wr.atomic.rkey = env.mr->rkey;
    refused_second(&pair, &wr, EINVAL); /* four bytes */
    sge.length = 8;
    wr.wr.atomic.remote_addr += 4;
    refused_second(&pair, &wr, EINVAL); /* not aligned */
    pair_close(&pair);
}

/* Operations that the type of the QP does not have. */
static void wrong_operation(void)
{
    static const struct {
        enum ibv_qp_type type;
        int opcode;
        unsigned int flags;
    } cases[] = {
        {IBV_QPT_RC, 77, 0},
        {IBV_QPT_RC, IBV_WR_TSO, 0},
        {IBV_QPT_RC, IBV_WR_RDMA_READ, IBV_SEND_INLINE},
        {IBV_QPT_UC, IBV_WR_RDMA_READ, 0},
        {IBV_QPT_UC, IBV_WR_ATOMIC_FETCH_AND_ADD, 0},
        {IBV_QPT_UC, IBV_WR_LOCAL_INV, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        struct pair pair;
        OPEN(&pair, .type = cases[i].type);
        struct ibv_sge sge = sge_of(at(0, 0), 8);
        struct ibv_send_wr wr = rdma_wr((enum ibv_wr_opcode)cases[i].opcode, at(1, 0), env.mr->rkey);
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.send_flags = cases[i].flags;
        refused_second(&pair, &wr, EINVAL);
        pair_close(&pair);
    }
}

static void datagram_without_address(void)
{
    struct pair pair;
    struct ibv_sge sge = sge_of(at(0, 0), 8);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    OPEN(&pair, .type = IBV_QPT_UD);
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), EINVAL);
    CHECK(bad == &wr);
    pair_close(&pair);
}

static void send_queue_full(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    OPEN(&pair, .send_wr = 7);
    CHECK_EQ(ibv_query_qp(pair.qp[0], &attr, IBV_QP_CAP, &init), 0);
    struct ibv_sge sge = sge_of(at(0, 0), 8);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    wr.send_flags = IBV_SEND_SIGNALED;
    for (unsigned i = 0; i < init.cap.max_send_wr; ++i) /* they wait for receive requests */
        CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0);
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), ENOMEM);
    CHECK(bad == &wr);
    for (unsigned i = 0; i < init.cap.max_send_wr; ++i) {
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 0), 8), 0);
        WAIT_OK(pair.cq[0], &wc);
    }
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

static void recv_queue_full(void)
{
    struct pair pair;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    OPEN(&pair, .recv_wr = 5);
    CHECK_EQ(ibv_query_qp(pair.qp[1], &attr, IBV_QP_CAP, &init), 0);
    CHECK(init.cap.max_recv_wr >= 5);
    for (unsigned i = 0; i < init.cap.max_recv_wr; ++i)
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 0), 8), 0);
    CHECK_EQ(post_recv(pair.qp[1], 9, at(1, 0), 8), ENOMEM);
    pair_close(&pair);
}

static void before_ready(void)
{
    struct pair pair;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    OPEN(&pair, .unconnected = true);
    CHECK_EQ(post_recv(pair.qp[0], 0, at(0, 0), 8), EINVAL);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 8), EINVAL);
    CHECK_EQ(qp_to_init(pair.qp[0], 0), 0);
    CHECK_EQ(post_recv(pair.qp[0], 0, at(0, 0), 8), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 8), EINVAL);
    pair_close(&pair);
}

/* What was refused before the QP was ready is not sent afterwards. */
static void refused_for_good(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_sge sge = sge_of(at(0, 0), 8);
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    wr.send_flags = IBV_SEND_SIGNALED;
    OPEN(&pair, .unconnected = true);
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), EINVAL);
    CHECK(bad == &wr);
    for (int side = 0; side < 2; ++side) {
        CHECK_EQ(qp_to_init(pair.qp[side], 0), 0);
        CHECK_EQ(qp_to_rtr(pair.qp[side], pair.qp[1 - side]->qp_num), 0);
        CHECK_EQ(qp_to_rts(pair.qp[side], 7), 0);
    }
    for (int i = 0; i < 2; ++i) {
        CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 8), 0);
    }
    wr.wr_id = 2;
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.wr_id, 2);
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

static void empty_list(void)
{
    struct pair pair;
    struct ibv_send_wr *bad_send = NULL;
    struct ibv_recv_wr *bad_recv = NULL;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(ibv_post_send(pair.qp[0], NULL, &bad_send), EINVAL);
    CHECK_EQ(ibv_post_recv(pair.qp[0], NULL, &bad_recv), EINVAL);
    CHECK(bad_send == NULL && bad_recv == NULL);
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

const struct test post_tests[] = {
    {"too_many_sges", too_many_sges, false},
    {"inline_too_long", inline_too_long, false},
    {"bad_atomics", bad_atomics, false},
    {"wrong_operation", wrong_operation, true},
    {"datagram_without_address", datagram_without_address, true},
    {"send_queue_full", send_queue_full, false},
    {"recv_queue_full", recv_queue_full, false},
    {"before_ready", before_ready, false},
    {"refused_for_good", refused_for_good, true},
    {"empty_list", empty_list, false},
    {NULL, NULL, false},
};
