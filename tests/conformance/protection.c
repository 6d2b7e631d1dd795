/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys protect: an access that they do not grant fails, and leaves memory as it was (IBTA 10.6.3). */
#include <string.h>

#include "conformance.h"

/* An access from side 0 to `length` bytes at `remote`; checks how it ends and that neither side changed. */
static void denied(enum ibv_wr_opcode opcode, uint64_t remote, uint32_t rkey, uint32_t length,
                   bool few_rights)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .few_rights = few_rights);
    memset(at(0, 0), 0x11, kSideSize);
    memset(at(1, 0), 0x22, kSideSize);
    struct ibv_send_wr wr = {.opcode = opcode};
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = remote;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = 1;
    } else {
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
    }
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), length), 0);
    WAIT(pair.cq[0], &wc);
    CHECK_EQ(wc.status, few_rights ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(at(0, 0), kSideSize, 0x11));
    CHECK(all_bytes(at(1, 0), kSideSize, 0x22));
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(pair.qp[0], &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
    pair_close(&pair);
}

static void wrong_rkey(void)
{
    denied(IBV_WR_RDMA_WRITE, address(at(1, 0)), env.mr->rkey ^ 1, 100, false);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 0)), env.mr->rkey + 0x100, 100, false);
    denied(IBV_WR_RDMA_READ, address(at(1, 0)), env.mr->rkey ^ 0x80, 100, false);
    denied(IBV_WR_ATOMIC_FETCH_AND_ADD, address(at(1, 0)), env.mr->rkey ^ 3, 8, false);
}

static void out_of_bounds(void)
{
    struct ibv_mr *mr = ibv_reg_mr(
        env.pd, at(1, 4096), 1000,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    CHECK_MADE(mr, ibv_reg_mr);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 4095)), mr->rkey, 10, false);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 4096)), mr->rkey, 1001, false);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 5096)), mr->rkey, 1, false);
    denied(IBV_WR_RDMA_READ, address(at(1, 4097)), mr->rkey, 1000, false);
    denied(IBV_WR_RDMA_WRITE, UINT64_MAX - 4, mr->rkey, 10, false);
    denied(IBV_WR_ATOMIC_FETCH_AND_ADD, address(at(1, 5096)), mr->rkey, 8, false);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
}

static void access_not_granted(void)
{
    struct ibv_mr *write_only =
        ibv_reg_mr(env.pd, at(1, 0), 1000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_mr *read_only = ibv_reg_mr(env.pd, at(1, 0), 1000, IBV_ACCESS_REMOTE_READ);
    CHECK(write_only != NULL && read_only != NULL);
    denied(IBV_WR_RDMA_READ, address(at(1, 0)), write_only->rkey, 10, false);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 0)), read_only->rkey, 10, false);
    denied(IBV_WR_ATOMIC_FETCH_AND_ADD, address(at(1, 0)), read_only->rkey, 8, false);
    CHECK_EQ(ibv_dereg_mr(write_only), 0);
    CHECK_EQ(ibv_dereg_mr(read_only), 0);
}

static void gone(void)
{
    struct ibv_mr *mr = ibv_reg_mr(env.pd, at(1, 0), 1000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK_MADE(mr, ibv_reg_mr);
    const uint32_t rkey = mr->rkey;
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 0)), rkey, 10, false);
}

static void other_domain(void)
{
    struct ibv_pd *pd = ibv_alloc_pd(env.context);
    CHECK_MADE(pd, ibv_alloc_pd);
    struct ibv_mr *mr = ibv_reg_mr(pd, at(1, 0), 1000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK_MADE(mr, ibv_reg_mr);
    denied(IBV_WR_RDMA_WRITE, address(at(1, 0)), mr->rkey, 10, false);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

/* The QP itself grants no remote access. */
static void qp_rights(void)
{
    denied(IBV_WR_RDMA_WRITE, address(at(1, 0)), env.mr->rkey, 10, true);
    denied(IBV_WR_RDMA_READ, address(at(1, 0)), env.mr->rkey, 10, true);
    denied(IBV_WR_ATOMIC_FETCH_AND_ADD, address(at(1, 0)), env.mr->rkey, 8, true);
}

/* IBTA 10.7.3 has the former for a wrong lkey; rxe tells the latter. */
static bool local_error(enum ibv_wc_status status)
{
    return status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_QP_OP_ERR;
}

static void wrong_lkey(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_sge sge = sge_of(at(0, 0), 10);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey);
    memset(at(0, 0), 0x33, 10);
    sge.lkey ^= 1;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    WAIT(pair.cq[0], &wc);
    CHECK(local_error(wc.status));
    CHECK(all_bytes(at(1, 0), 10, 0));
    pair_close(&pair);
}

static void receive_into_read_only(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_mr *mr = ibv_reg_mr(env.pd, at(1, 0), 1000, 0);
    CHECK_MADE(mr, ibv_reg_mr);
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_sge sge = {.addr = address(at(1, 0)), .length = 100, .lkey = mr->lkey};
    struct ibv_recv_wr recv = {.wr_id = 3, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    memset(at(0, 0), 0x33, 10);
    CHECK_EQ(ibv_post_recv(pair.qp[1], &recv, &bad), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 3);
    CHECK(local_error(wc.status));
    WAIT(pair.cq[0], &wc);
    CHECK_EQ(wc.status, IBV_WC_REM_OP_ERR);
    CHECK(all_bytes(at(1, 0), 100, 0));
    pair_close(&pair);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
}

const struct test protection_tests[] = {
    {"wrong_rkey", wrong_rkey, false},
    {"out_of_bounds", out_of_bounds, false},
    {"access_not_granted", access_not_granted, false},
    {"gone", gone, false},
    {"other_domain", other_domain, false},
    {"qp_rights", qp_rights, false},
    {"wrong_lkey", wrong_lkey, false},
    {"receive_into_read_only", receive_into_read_only, false},
    {NULL, NULL, false},
};
