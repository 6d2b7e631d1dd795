/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting through extended QPs: ibv_wr_start, a call per operation, ibv_wr_complete. */
#include <errno.h>
#include <string.h>

#include "conformance.h"

static uint64_t rc_ops(void)
{
    const uint64_t iwarp = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ |
                           IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV;
    return env.iwarp ? iwarp
                     : iwarp | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND_WITH_IMM |
                           IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                           IBV_QP_EX_WITH_BIND_MW;
}

static struct ibv_qp_ex *begin(struct ibv_qp *qp, uint64_t wr_id)
{
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(ex);
    ex->wr_id = wr_id;
    ex->wr_flags = IBV_SEND_SIGNALED;
    return ex;
}

static void sends(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops());
    CHECK(ibv_qp_to_qp_ex(pair.qp[0]) != NULL);
    fill(at(0, 0), 2000, 1);
    for (uint64_t i = 0; i < 3; ++i)
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 3000 * i), 3000), 0);
    struct ibv_qp_ex *qp = begin(pair.qp[0], 70);
    ibv_wr_send(qp);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 2000);
    qp->wr_id = 71;
    ibv_wr_send_imm(qp, 0x55667788);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 2000);
    qp->wr_id = 72;
    ibv_wr_send(qp);
    ibv_wr_set_sge_list(qp, 0, NULL);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    for (uint64_t i = 0; i < 3; ++i) {
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.byte_len, i == 2 ? 0 : 2000);
        CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, i == 1 ? IBV_WC_WITH_IMM : 0);
        if (i == 1)
            CHECK_EQ(wc.imm_data, 0x55667788);
        CHECK(filled(at(1, 3000 * i), i == 2 ? 0 : 2000, 1));
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.wr_id, 70 + i);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
    }
    pair_close(&pair);
}

static void sge_list(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops());
    fill(at(0, 0), 2000, 1);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 3000), 0);
    struct ibv_sge list[3] = {sge_of(at(0, 0), 10), sge_of(at(0, 10), 1000), sge_of(at(0, 1010), 990)};
    struct ibv_qp_ex *qp = begin(pair.qp[0], 1);
    ibv_wr_send(qp);
    ibv_wr_set_sge_list(qp, 3, list);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 2000);
    CHECK(filled(at(1, 0), 2000, 1));
    pair_close(&pair);
}

static void inline_data(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops(), .inline_data = 64);
    char data[64];
    fill(data, 64, 6);
    struct ibv_data_buf list[3] = {{data, 10}, {data + 10, 0}, {data + 10, 54}};
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 100), 0);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 100), 100), 0);
    struct ibv_qp_ex *qp = begin(pair.qp[0], 1);
    ibv_wr_send(qp);
    ibv_wr_set_inline_data(qp, data, 33);
    ibv_wr_send(qp);
    ibv_wr_set_inline_data_list(qp, 3, list);
    ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 500)));
    ibv_wr_set_inline_data(qp, data, 64);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    memset(data, 0, sizeof(data));
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 33);
    CHECK(filled(at(1, 0), 33, 6));
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 64);
    CHECK(filled(at(1, 100), 64, 6));
    for (int i = 0; i < 3; ++i)
        WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(at(1, 500), 64, 6));
    pair_close(&pair);
}

static void rdma(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops());
    fill(at(0, 0), 3000, 1);
    CHECK_EQ(post_recv(pair.qp[1], 4, at(1, 60000), 1), 0);
    struct ibv_qp_ex *qp = begin(pair.qp[0], 1);
    ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 0)));
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 3000);
    ibv_wr_rdma_write_imm(qp, env.mr->rkey, address(at(1, 4000)), 77);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 2000);
    qp->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
    ibv_wr_rdma_read(qp, env.mr->rkey, address(at(1, 0)));
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 10000)), 3000);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(wc.imm_data, 77);
    static const enum ibv_wc_opcode opcodes[] = {IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ};
    for (int i = 0; i < 3; ++i) {
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, opcodes[i]);
    }
    CHECK(filled(at(1, 0), 3000, 1) && filled(at(1, 4000), 2000, 1) && filled(at(0, 10000), 3000, 1));
    pair_close(&pair);
}

static void atomics(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops());
    uint64_t *target = (uint64_t *)(void *)at(1, 0), *before = (uint64_t *)(void *)at(0, 0);
    *target = 40;
    struct ibv_qp_ex *qp = begin(pair.qp[0], 1);
    ibv_wr_atomic_fetch_add(qp, env.mr->rkey, address(target), 2);
    ibv_wr_set_sge(qp, env.mr->lkey, address(&before[0]), 8);
    ibv_wr_atomic_cmp_swp(qp, env.mr->rkey, address(target), 42, 1000);
    ibv_wr_set_sge(qp, env.mr->lkey, address(&before[1]), 8);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_FETCH_ADD);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_COMP_SWAP);
    CHECK(before[0] == 40 && before[1] == 42 && *target == 1000);
    pair_close(&pair);
}

static void windows(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_2);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    OPEN(&pair, .send_ops = rc_ops());
    uint32_t rkey = ibv_inc_rkey(mw->rkey);
    struct ibv_mw_bind_info info = {env.mr, address(at(1, 0)), 100, IBV_ACCESS_REMOTE_WRITE};
    struct ibv_qp_ex *qp = begin(pair.qp[1], 1);
    ibv_wr_bind_mw(qp, mw, rkey, &info);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_BIND_MW);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 200), 100), 0);
    fill(at(0, 0), 50, 1);
    qp = begin(pair.qp[0], 1);
    ibv_wr_rdma_write(qp, rkey, address(at(1, 50)));
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 50);
    ibv_wr_send_inv(qp, rkey);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 50);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.invalidated_rkey, rkey);
    CHECK(filled(at(1, 50), 50, 1));
    mw->rkey = rkey;
    rkey = ibv_inc_rkey(rkey);
    qp = begin(pair.qp[1], 1);
    ibv_wr_bind_mw(qp, mw, rkey, &info);
    ibv_wr_local_inv(qp, rkey);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[1], &wc);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_LOCAL_INV);
    pair_close(&pair);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

static void datagrams(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_ah *ah = ah_to_self();
    CHECK_MADE(ah, ibv_create_ah);
    OPEN(&pair, .type = IBV_QPT_UD, .send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
    fill(at(0, 0), 500, 1);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 1000), 0);
    CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 1000), 1000), 0);
    struct ibv_qp_ex *qp = begin(pair.qp[0], 1);
    ibv_wr_send(qp);
    ibv_wr_set_ud_addr(qp, ah, pair.qp[1]->qp_num, 0x1234);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 500);
    ibv_wr_send_imm(qp, 3);
    ibv_wr_set_ud_addr(qp, ah, pair.qp[1]->qp_num, 0x1234);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 400);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 540);
    CHECK(filled(at(1, 40), 500, 1));
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 440);
    CHECK_EQ(wc.imm_data, 3);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

/* An aborted batch and one with an error post nothing at all. */
static void nothing_posted(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops(), .send_wr = 3, .inline_data = 16, .sge = 1);
    struct ibv_sge list[40];
    char data[700] = {0};
    for (int i = 0; i < 40; ++i)
        list[i] = sge_of(at(0, 0), 1);
    for (int kind = 0; kind < 4; ++kind) {
        struct ibv_qp_ex *qp = begin(pair.qp[0], 1);
        ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 0)));
        ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 1);
        ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 0)));
        if (kind == 0) {
            ibv_wr_set_sge_list(qp, 40, list);
        } else if (kind == 1) {
            ibv_wr_set_inline_data(qp, data, sizeof(data));
        } else {
            for (int i = 0; i < 100; ++i) {
                ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 1);
                ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 0)));
            }
            ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 1);
        }
        if (kind == 3)
            ibv_wr_abort(qp);
        else
            CHECK_EQ(ibv_wr_complete(qp), ENOSPC);
        CHECK(quiet(pair.cq[0]));
    }
    struct ibv_qp_ex *qp = begin(pair.qp[0], 9);
    ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 0)));
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 1);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.wr_id, 9);
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

/* Both ways to post may take turns. */
static void mixed(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = rc_ops());
    for (uint64_t i = 0; i < 40; ++i) {
        if (i % 2 == 0) {
            struct ibv_qp_ex *qp = begin(pair.qp[0], i);
            ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, i)));
            ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 1);
            CHECK_EQ(ibv_wr_complete(qp), 0);
        } else {
            struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, i), env.mr->rkey);
            wr.wr_id = i;
            CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 1), 0);
        }
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.wr_id, i);
    }
    pair_close(&pair);
}

static void refused(void)
{
    struct ibv_cq *cq = ibv_create_cq(env.context, 1, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    static const struct {
        enum ibv_qp_type type;
        uint64_t ops;
    } cases[] = {
        {IBV_QPT_RC, IBV_QP_EX_WITH_TSO},           {IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ},
        {IBV_QPT_UC, IBV_QP_EX_WITH_LOCAL_INV},     {IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE},
        {IBV_QPT_UD, IBV_QP_EX_WITH_SEND_WITH_INV}, {IBV_QPT_RC, 1ull << 40},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        struct ibv_qp_init_attr_ex attr = {
            .send_cq = cq,
            .recv_cq = cq,
            .cap = {1, 1, 1, 1, 0},
            .qp_type = cases[i].type,
            .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
            .pd = env.pd,
            .send_ops_flags = cases[i].ops,
        };
        errno = 0;
        CHECK(ibv_create_qp_ex(env.context, &attr) == NULL);
        CHECK_EQ(errno, EOPNOTSUPP);
    }
    CHECK_EQ(ibv_destroy_cq(cq), 0);
}

const struct test wr_tests[] = {
    {"sends", sends, false},
    {"sge_list", sge_list, true},
    {"inline_data", inline_data, true},
    {"rdma", rdma, false},
    {"atomics", atomics, false},
    {"windows", windows, false},
    {"datagrams", datagrams, false},
    {"nothing_posted", nothing_posted, false},
    {"mixed", mixed, false},
    {"refused", refused, false},
    {NULL, NULL, false},
};
