/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows of both types, and invalidation of their keys. */
#include <errno.h>
#include <string.h>

#include "conformance.h"

static bool have_windows(void)
{
    if ((env.device.device_cap_flags & IBV_DEVICE_MEM_WINDOW) == 0) {
        test_skip("no memory windows: device_cap_flags have no IBV_DEVICE_MEM_WINDOW");
        return false;
    }
    return true;
}

static struct ibv_mw_bind_info window(void *memory, uint64_t length, unsigned int access)
{
    return (struct ibv_mw_bind_info){
        .mr = env.mr, .addr = address(memory), .length = length, .mw_access_flags = access};
}

/* What an 8-byte write from side 0 through `rkey` completes with. */
static enum ibv_wc_status write_through(struct pair *pair, void *remote, uint32_t rkey)
{
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, remote, rkey);
    struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};
    fill(at(0, 0), 8, 5);
    if (post_send(pair->qp[0], &wr, at(0, 0), 8) != 0 || !wait_wc(pair->cq[0], &wc))
        return IBV_WC_GENERAL_ERR;
    return wc.status;
}

static void type1(void)
{
    struct pair pair;
    struct ibv_wc wc;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_1);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    CHECK(mw->type == IBV_MW_TYPE_1 && mw->pd == env.pd);
    OPEN(&pair, .type = IBV_QPT_RC);
    const uint32_t first = mw->rkey;
    struct ibv_mw_bind bind = {
        .wr_id = 8,
        .send_flags = IBV_SEND_SIGNALED,
        .bind_info = window(at(1, 100), 64, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
    };
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), 0);
    CHECK(mw->rkey != first);
    CHECK_EQ(mw->rkey >> 8, first >> 8);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 8);
    CHECK_EQ(wc.opcode, IBV_WC_BIND_MW);
    CHECK_EQ(write_through(&pair, at(1, 156), mw->rkey), IBV_WC_SUCCESS);
    CHECK(filled(at(1, 156), 8, 5));
    struct ibv_send_wr read = rdma_wr(IBV_WR_RDMA_READ, at(1, 156), mw->rkey);
    CHECK_EQ(post_send(pair.qp[0], &read, at(0, 500), 8), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(at(0, 500), 8, 5));

    /* Bound again, it has another key, and the old one is worth nothing. */
    const uint32_t second = mw->rkey;
    bind.bind_info = window(at(1, 1000), 64, IBV_ACCESS_REMOTE_WRITE);
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK(mw->rkey != second);
    CHECK_EQ(write_through(&pair, at(1, 1000), mw->rkey), IBV_WC_SUCCESS);
    CHECK_EQ(write_through(&pair, at(1, 1000), second), IBV_WC_REM_ACCESS_ERR);
    pair_close(&pair);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

static void type1_unbound(void)
{
    struct pair pair;
    struct ibv_wc wc;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_1);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_mw_bind bind = {
        .send_flags = IBV_SEND_SIGNALED,
        .bind_info = window(at(1, 0), 64, IBV_ACCESS_REMOTE_WRITE),
    };
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), 0);
    WAIT_OK(pair.cq[1], &wc);
    bind.bind_info.length = 0;
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(write_through(&pair, at(1, 0), mw->rkey), IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(at(1, 0), 64, 0));
    pair_close(&pair);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

/* An 8-byte write through a window of type 1 to 64 bytes, which grants `access`. */
static enum ibv_wc_status write_through_type1(size_t offset, unsigned int access)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_1);
    if (mw == NULL || !pair_open(&pair, &(struct pair_options){.type = IBV_QPT_RC}))
        return IBV_WC_GENERAL_ERR;
    struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED, .bind_info = window(at(1, 100), 64, access)};
    enum ibv_wc_status status = IBV_WC_GENERAL_ERR;
    if (ibv_bind_mw(pair.qp[1], mw, &bind) == 0 && wait_wc(pair.cq[1], &wc) && wc.status == IBV_WC_SUCCESS)
        status = write_through(&pair, at(1, offset), mw->rkey);
    pair_close(&pair);
    return ibv_dealloc_mw(mw) == 0 ? status : IBV_WC_GENERAL_ERR;
}

static void type1_access(void)
{
    if (!have_windows())
        return;
    CHECK_EQ(write_through_type1(100, IBV_ACCESS_REMOTE_READ), IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(at(1, 0), 1000, 0));
}

static void type1_bounds(void)
{
    static const size_t offsets[] = {100 + 57, 100 - 1, 100 + 64};
    if (!have_windows())
        return;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); ++i) {
        const enum ibv_wc_status status = write_through_type1(offsets[i], IBV_ACCESS_REMOTE_WRITE);
        if (status == IBV_WC_SUCCESS)
            SKIP("the device holds accesses through a window to the bounds of its region only");
        CHECK_EQ(status, IBV_WC_REM_ACCESS_ERR);
        CHECK(all_bytes(at(1, 0), 1000, 0));
    }
}

static void bind_refused(void)
{
    struct pair pair;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_1), *mw2 = ibv_alloc_mw(env.pd, IBV_MW_TYPE_2);
    struct ibv_pd *pd = ibv_alloc_pd(env.context);
    CHECK(mw != NULL && mw2 != NULL && pd != NULL);
    struct ibv_mr *foreign = ibv_reg_mr(pd, at(1, 0), 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    CHECK_MADE(foreign, ibv_reg_mr);
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_mw_bind bind = {.bind_info = window(at(1, 0), 64, IBV_ACCESS_REMOTE_WRITE)};
    const uint32_t rkey = mw->rkey;
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw2, &bind), EINVAL);
    bind.bind_info.mw_access_flags |= IBV_ACCESS_ZERO_BASED;
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), EINVAL);
    bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
    bind.bind_info.mr = NULL;
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), EINVAL);
    bind.bind_info.mr = foreign;
    CHECK_EQ(ibv_bind_mw(pair.qp[1], mw, &bind), EPERM);
    CHECK_EQ(mw->rkey, rkey);
    CHECK(quiet(pair.cq[1]));
    errno = 0;
    CHECK(ibv_alloc_mw(env.pd, (enum ibv_mw_type)9) == NULL);
    CHECK_EQ(errno, EINVAL);
    pair_close(&pair);
    CHECK_EQ(ibv_dereg_mr(foreign), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    CHECK_EQ(ibv_dealloc_mw(mw2), 0);
}

/* Binds a window of type 2 to 64 bytes at side 1 and returns the rkey that it then has; 0 if that fails. */
static uint32_t bind2(struct pair *pair, struct ibv_mw *mw, unsigned int access)
{
    struct ibv_wc wc;
    struct ibv_send_wr wr = {.wr_id = 21, .opcode = IBV_WR_BIND_MW};
    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
    wr.bind_mw.bind_info = window(at(1, 200), 64, access);
    if (post_send(pair->qp[1], &wr, NULL, 0) != 0 || !wait_wc(pair->cq[1], &wc) ||
        wc.status != IBV_WC_SUCCESS || wc.opcode != IBV_WC_BIND_MW || wc.wr_id != 21)
        return 0;
    return wr.bind_mw.rkey;
}

static void type2(void)
{
    struct pair pair;
    struct ibv_wc wc;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_2);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    OPEN(&pair, .type = IBV_QPT_RC);
    const uint32_t rkey = bind2(&pair, mw, IBV_ACCESS_REMOTE_WRITE);
    CHECK(rkey != 0);
    CHECK_EQ(write_through(&pair, at(1, 200), rkey), IBV_WC_SUCCESS);
    CHECK(filled(at(1, 200), 8, 5));
    memset(at(1, 200), 0, 8);
    struct ibv_send_wr wr = {.wr_id = 5, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey};
    CHECK_EQ(post_send(pair.qp[1], &wr, NULL, 0), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 5);
    CHECK_EQ(wc.opcode, IBV_WC_LOCAL_INV);
    CHECK_EQ(write_through(&pair, at(1, 200), rkey), IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(at(1, 200), 8, 0));
    pair_close(&pair);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

static void send_with_invalidate(void)
{
    struct pair pair;
    struct ibv_wc wc;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_2);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    OPEN(&pair, .type = IBV_QPT_RC);
    const uint32_t rkey = bind2(&pair, mw, IBV_ACCESS_REMOTE_WRITE);
    CHECK(rkey != 0);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = rkey};
    fill(at(0, 300), 30, 2);
    CHECK_EQ(post_recv(pair.qp[1], 4, at(1, 1000), 30), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 300), 30), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 4);
    CHECK_EQ(wc.opcode, IBV_WC_RECV);
    CHECK_EQ(wc.invalidated_rkey, rkey);
    CHECK(filled(at(1, 1000), 30, 2));
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(write_through(&pair, at(1, 200), rkey), IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(at(1, 200), 8, 0));
    pair_close(&pair);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

/* The flag that says that the completion has an invalidated rkey. */
static void invalidate_flag(void)
{
    struct pair pair;
    struct ibv_wc wc;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_2);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    OPEN(&pair, .type = IBV_QPT_RC);
    const uint32_t rkey = bind2(&pair, mw, IBV_ACCESS_REMOTE_WRITE);
    CHECK(rkey != 0);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = rkey};
    CHECK_EQ(post_recv(pair.qp[1], 4, at(1, 1000), 30), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 300), 30), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wc_flags & (IBV_WC_WITH_INV | IBV_WC_WITH_IMM | IBV_WC_IP_CSUM_OK), IBV_WC_WITH_INV);
    WAIT_OK(pair.cq[0], &wc);
    pair_close(&pair);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

/* A window of type 2 belongs to the QP that bound it, and is bound once. */
static void type2_rules(void)
{
    struct pair pair, other;
    struct ibv_wc wc;
    if (!have_windows())
        return;
    struct ibv_mw *mw = ibv_alloc_mw(env.pd, IBV_MW_TYPE_2);
    CHECK_OFFERED(mw, ibv_alloc_mw);
    OPEN(&pair, .type = IBV_QPT_RC);
    OPEN(&other, .type = IBV_QPT_RC);
    const uint32_t rkey = bind2(&pair, mw, IBV_ACCESS_REMOTE_WRITE);
    CHECK(rkey != 0);
    CHECK_EQ(write_through(&other, at(1, 200), rkey), IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(at(1, 200), 8, 0));
    struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};
    struct ibv_mw bound = *mw;
    bound.rkey = rkey;
    wr.bind_mw.mw = &bound;
    wr.bind_mw.rkey = ibv_inc_rkey(rkey);
    wr.bind_mw.bind_info = window(at(1, 200), 64, IBV_ACCESS_REMOTE_WRITE);
    CHECK_EQ(post_send(pair.qp[1], &wr, NULL, 0), 0);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.status, IBV_WC_MW_BIND_ERR);
    pair_close(&pair);
    pair_close(&other);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

const struct test mw_tests[] = {
    {"type1", type1, false},
    {"type1_unbound", type1_unbound, false},
    {"type1_access", type1_access, false},
    {"type1_bounds", type1_bounds, false},
    {"bind_refused", bind_refused, false},
    {"type2", type2, false},
    {"type2_rules", type2_rules, false},
    {"send_with_invalidate", send_with_invalidate, false},
    {"invalidate_flag", invalidate_flag, true},
    {NULL, NULL, false},
};
