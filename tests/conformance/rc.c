/* SPDX-License-Identifier: BSD-2-Clause */
/* Reliable connections: each operation, and the order and number of completions. */
#include <string.h>

#include "conformance.h"

/* Sends `length` bytes from side 0 to side 1 and checks what both complete with. */
static void send_and_check(struct pair *pair, struct ibv_send_wr wr, uint32_t length, int wc_flags)
{
    struct ibv_wc wc;
    fill(at(0, 0), length, length);
    CHECK_EQ(post_recv(pair->qp[1], 11, at(1, 0), length + 8), 0);
    wr.wr_id = 22;
    CHECK_EQ(post_send(pair->qp[0], &wr, at(0, 0), length), 0);
    WAIT_OK(pair->cq[1], &wc);
    CHECK_EQ(wc.wr_id, 11);
    CHECK_EQ(wc.opcode, IBV_WC_RECV);
    CHECK_EQ(wc.byte_len, length);
    CHECK_EQ(wc.qp_num, pair->qp[1]->qp_num);
    CHECK_EQ(wc.wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV), wc_flags);
    if (wc_flags & IBV_WC_WITH_IMM)
        CHECK_EQ(wc.imm_data, wr.imm_data);
    CHECK(filled(at(1, 0), length, length));
    CHECK(all_bytes(at(1, length), 8, 0));
    WAIT_OK(pair->cq[0], &wc);
    CHECK_EQ(wc.wr_id, 22);
    CHECK_EQ(wc.opcode, IBV_WC_SEND);
    CHECK_EQ(wc.qp_num, pair->qp[0]->qp_num);
    memset(at(1, 0), 0, length + 8);
}

static void send_sizes(void)
{
    static const uint32_t sizes[] = {1, 3, 64, 1023, 1024, 1025, 4096, 9001, 40000};
    struct pair pair;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i)
        send_and_check(&pair, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, sizes[i], 0);
    pair_close(&pair);
}

static void send_imm(void)
{
    struct pair pair;
    OPEN(&pair, .type = IBV_QPT_RC);
    send_and_check(&pair, (struct ibv_send_wr){.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 0x12345678}, 100,
                   IBV_WC_WITH_IMM);
    pair_close(&pair);
}

static void send_inline(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .inline_data = 128);
    send_and_check(&pair, (struct ibv_send_wr){.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE}, 128, 0);

    /* The data is taken when it is posted, and its lkey is not looked at. */
    struct ibv_sge sges[2] = {sge_of(at(0, 0), 5), sge_of(at(0, 100), 7)};
    sges[0].lkey = sges[1].lkey = 0xdead;
    fill(at(0, 0), 5, 1);
    fill(at(0, 100), 7, 2);
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE, .sg_list = sges, .num_sge = 2};
    CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 0), 12), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    memset(at(0, 0), 0xff, 200);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 12);
    CHECK(filled(at(1, 0), 5, 1) && filled(at(1, 5), 7, 2));
    WAIT_OK(pair.cq[0], &wc);
    pair_close(&pair);
}

static void send_nothing(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_recv_wr recv = {.wr_id = 5}, *bad = NULL;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(ibv_post_recv(pair.qp[1], &recv, &bad), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 5);
    CHECK_EQ(wc.byte_len, 0);
    WAIT_OK(pair.cq[0], &wc);
    pair_close(&pair);
}

static void gather_and_scatter(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .sge = 4);
    struct ibv_sge out[4],
        in[3] = {sge_of(at(1, 0), 1000), sge_of(at(1, 2000), 1), sge_of(at(1, 4000), 9000)};
    for (unsigned i = 0; i < 4; ++i) {
        out[i] = sge_of(at(0, i * 5000), 700 * i + 3);
        fill(at(0, i * 5000), 700 * i + 3, i);
    }
    struct ibv_recv_wr recv = {.sg_list = in, .num_sge = 3}, *bad = NULL;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = out, .num_sge = 4};
    CHECK_EQ(ibv_post_recv(pair.qp[1], &recv, &bad), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 4212);
    char got[4212];
    memcpy(got, at(1, 0), 1000);
    memcpy(got + 1000, at(1, 2000), 1);
    memcpy(got + 1001, at(1, 4000), 3211);
    CHECK(filled(got, 3, 0) && filled(got + 3, 703, 1) && filled(got + 706, 1403, 2) &&
          filled(got + 2109, 2103, 3));
    WAIT_OK(pair.cq[0], &wc);
    pair_close(&pair);
}

static void rdma_write(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (uint32_t length = 1; length <= 30000; length = length * 5 + 1) {
        struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 64), env.mr->rkey);
        fill(at(0, 0), length, length);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), length), 0);
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
        CHECK(filled(at(1, 64), length, length));
        CHECK(all_bytes(at(1, 0), 64, 0) && all_bytes(at(1, 64 + length), 64, 0));
    }
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), 0);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 5), env.mr->rkey);
    wr.send_flags = IBV_SEND_INLINE;
    fill(at(0, 0), 50, 3);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 50), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(at(1, 5), 50, 3));
    pair_close(&pair);
}

static void rdma_write_imm(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, at(1, 0), env.mr->rkey);
    wr.imm_data = 0xabcdef01;
    fill(at(0, 0), 5000, 9);
    CHECK_EQ(post_recv(pair.qp[1], 77, at(1, 60000), 1), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 5000), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 77);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(wc.byte_len, 5000);
    CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
    CHECK_EQ(wc.imm_data, 0xabcdef01);
    CHECK(filled(at(1, 0), 5000, 9) && all_bytes(at(1, 60000), 1, 0));
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
    pair_close(&pair);
}

static void rdma_read(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (uint32_t length = 1; length <= 30000; length = length * 7 + 2) {
        struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_READ, at(1, 100), env.mr->rkey);
        fill(at(1, 100), length, length);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 8), length), 0);
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
        CHECK_EQ(wc.byte_len, length);
        CHECK(filled(at(0, 8), length, length) && all_bytes(at(0, 8 + length), 8, 0));
    }
    pair_close(&pair);
}

static void atomics(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    uint64_t *target = (uint64_t *)(void *)at(1, 8), *before = (uint64_t *)(void *)at(0, 0);
    struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
    wr.wr.atomic.remote_addr = address(target);
    wr.wr.atomic.rkey = env.mr->rkey;
    wr.wr.atomic.compare_add = 5;
    *target = 0xffffffffffffffffull;
    CHECK_EQ(post_send(pair.qp[0], &wr, before, 8), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_FETCH_ADD);
    CHECK(*before == 0xffffffffffffffffull && *target == 4);

    wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    wr.wr.atomic.compare_add = 4;
    wr.wr.atomic.swap = 0x1122334455667788ull;
    CHECK_EQ(post_send(pair.qp[0], &wr, before, 8), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_COMP_SWAP);
    CHECK(*before == 4 && *target == 0x1122334455667788ull);

    wr.wr.atomic.swap = 1; /* compares with 4: no longer equal */
    CHECK_EQ(post_send(pair.qp[0], &wr, before, 8), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(*before == 0x1122334455667788ull && *target == 0x1122334455667788ull);
    CHECK(target[-1] == 0 && target[1] == 0);
    pair_close(&pair);
}

/* A fenced write that depends on what the read before it fetched (IBTA 10.8.3.3). */
static void fence(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (unsigned round = 0; round < 50; ++round) {
        struct ibv_sge read_sge = sge_of(at(0, 0), 8192), write_sge = sge_of(at(0, 0), 8192);
        struct ibv_send_wr write = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 20000), env.mr->rkey);
        struct ibv_send_wr read = rdma_wr(IBV_WR_RDMA_READ, at(1, 0), env.mr->rkey), *bad = NULL;
        write.sg_list = &write_sge;
        write.num_sge = 1;
        write.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
        read.sg_list = &read_sge;
        read.num_sge = 1;
        read.next = &write;
        fill(at(1, 0), 8192, round);
        CHECK_EQ(ibv_post_send(pair.qp[0], &read, &bad), 0);
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
        CHECK(filled(at(1, 20000), 8192, round));
    }
    pair_close(&pair);
}

static void signaling(void)
{
    struct pair pair;
    struct ibv_wc wc;
    for (int all = 0; all < 2; ++all) {
        OPEN(&pair, .sq_sig_all = all);
        struct ibv_sge sge = sge_of(at(0, 0), 4);
        struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey), *bad = NULL;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        for (uint64_t i = 1; i <= 8; ++i) {
            wr.wr_id = i;
            wr.send_flags = i % 4 == 0 ? IBV_SEND_SIGNALED : 0;
            CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0);
        }
        for (uint64_t i = all ? 1 : 4; i <= 8; i += all ? 1 : 4) {
            WAIT_OK(pair.cq[0], &wc);
            CHECK_EQ(wc.wr_id, i);
        }
        CHECK(quiet(pair.cq[0]));
        pair_close(&pair);
    }
}

/* Many more messages than the queues hold: each arrives once and in order, and completes once and in order. */
static void order(void)
{
    enum { kMessages = 2000, kSize = 600, kDepth = 15 };
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_wr = kDepth, .recv_wr = kDepth);
    unsigned posted = 0, received = 0, sent = 0, credits = 0;
    for (; credits < kDepth; ++credits)
        CHECK_EQ(post_recv(pair.qp[1], credits, at(1, (size_t)credits * kSize), kSize), 0);
    while (received < kMessages || sent < kMessages) {
        while (posted < kMessages && posted - sent < kDepth && posted < credits) {
            const size_t slot = posted % kDepth;
            struct ibv_send_wr wr = {.wr_id = posted, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = posted};
            fill(at(0, slot * kSize), kSize, posted);
            CHECK_EQ(post_send(pair.qp[0], &wr, at(0, slot * kSize), kSize - posted % 100), 0);
            ++posted;
        }
        if (ibv_poll_cq(pair.cq[0], 1, &wc) == 1) {
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            CHECK_EQ(wc.wr_id, sent);
            ++sent;
        }
        if (received < kMessages) {
            WAIT_OK(pair.cq[1], &wc);
            const size_t slot = received % kDepth;
            CHECK_EQ(wc.wr_id, received);
            CHECK_EQ(wc.imm_data, received);
            CHECK_EQ(wc.byte_len, kSize - received % 100);
            CHECK(filled(at(1, slot * kSize), wc.byte_len, received));
            ++received;
            if (credits < kMessages) {
                CHECK_EQ(post_recv(pair.qp[1], credits, at(1, slot * kSize), kSize), 0);
                ++credits;
            }
        }
    }
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), 0);
    pair_close(&pair);
}

static void both_ways(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (int side = 0; side < 2; ++side) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        fill(at(side, 0), 300, (unsigned)side);
        CHECK_EQ(post_recv(pair.qp[1 - side], 1, at(1 - side, 1000), 300), 0);
        CHECK_EQ(post_send(pair.qp[side], &wr, at(side, 0), 300), 0);
    }
    for (int side = 0; side < 2; ++side) {
        WAIT_OK(pair.cq[side], &wc);
        WAIT_OK(pair.cq[side], &wc);
        CHECK(filled(at(side, 1000), 300, (unsigned)(1 - side)));
    }
    pair_close(&pair);
}

static void query(void)
{
    struct pair pair;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(
        ibv_query_qp(pair.qp[0], &attr,
                     IBV_QP_STATE | IBV_QP_CAP | IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT, &init),
        0);
    CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
    CHECK_EQ(pair.qp[0]->state, IBV_QPS_RTS);
    CHECK_EQ(attr.dest_qp_num, pair.qp[1]->qp_num);
    CHECK_EQ(attr.path_mtu, IBV_MTU_1024);
    CHECK_EQ(attr.retry_cnt, 6);
    CHECK_EQ(attr.timeout, 14);
    CHECK_EQ(init.qp_type, IBV_QPT_RC);
    CHECK(init.cap.max_send_wr >= 16 && init.cap.max_recv_sge >= 4 && init.cap.max_inline_data >= 64);
    CHECK(init.send_cq == pair.cq[0] && init.recv_cq == pair.cq[0]);
    pair_close(&pair);
}

const struct test rc_tests[] = {
    {"send", send_sizes, false},
    {"send_imm", send_imm, false},
    {"send_inline", send_inline, false},
    {"send_nothing", send_nothing, false},
    {"gather_and_scatter", gather_and_scatter, false},
    {"rdma_write", rdma_write, false},
    {"rdma_write_imm", rdma_write_imm, false},
    {"rdma_read", rdma_read, false},
    {"atomics", atomics, false},
    {"fence", fence, false},
    {"signaling", signaling, false},
    {"order", order, false},
    {"both_ways", both_ways, false},
    {"query", query, false},
    {NULL, NULL, false},
};
