/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion counters. */
#include <errno.h>

#include "conformance.h"

static struct ibv_comp_cntr *create(enum ibv_comp_cntr_type type)
{
    struct ibv_comp_cntr_init_attr attr = {.type = type};
    return ibv_create_comp_cntr(env.context, &attr);
}

static int attach(struct ibv_qp *qp, struct ibv_comp_cntr *counter, uint32_t ops)
{
    struct ibv_qp_attach_comp_cntr_attr attr = {.op_mask = ops};
    return ibv_qp_attach_comp_cntr(qp, counter, &attr);
}

/* False and the test skipped where there are not two counters for these operations. */
static bool have_counters(uint32_t operations)
{
    struct ibv_comp_cntr_caps caps = {0};
    const int error = ibv_query_comp_cntr_caps(env.context, &caps);
    if (error == 0 && caps.max_counters > 2 && (caps.supported_qp_attach_ops & operations) == operations)
        return true;
    if (error != 0)
        test_skip("ibv_query_comp_cntr_caps: %s", strerror(error));
    else
        test_skip("no such completion counters: max_counters is %u, supported_qp_attach_ops 0x%x",
                  caps.max_counters, caps.supported_qp_attach_ops);
    return false;
}

static void values(void)
{
    uint64_t value = 1;
    if (!have_counters(0))
        return;
    struct ibv_comp_cntr *counter = create(IBV_COMP_CNTR_TYPE_WRS);
    CHECK_MADE(counter, ibv_create_comp_cntr);
    CHECK(counter->context == env.context);
    CHECK_EQ(ibv_read_comp_cntr(counter, &value), 0);
    CHECK_EQ(value, 0);
    CHECK_EQ(ibv_set_comp_cntr(counter, 5), 0);
    CHECK_EQ(ibv_inc_comp_cntr(counter, 3), 0);
    CHECK_EQ(ibv_read_comp_cntr(counter, &value), 0);
    CHECK_EQ(value, 8);
    CHECK_EQ(ibv_read_err_comp_cntr(counter, &value), 0);
    CHECK_EQ(value, 0);
    CHECK_EQ(ibv_set_err_comp_cntr(counter, 50), 0);
    CHECK_EQ(ibv_inc_err_comp_cntr(counter, 1), 0);
    CHECK_EQ(ibv_read_err_comp_cntr(counter, &value), 0);
    CHECK_EQ(value, 51);
    CHECK_EQ(ibv_destroy_comp_cntr(counter), 0);
    struct ibv_comp_cntr_init_attr unknown = {.comp_mask = 1};
    errno = 0;
    CHECK(ibv_create_comp_cntr(env.context, &unknown) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
}

static void counts(void)
{
    const uint32_t sends = IBV_QP_ATTACH_COMP_CNTR_OP_SEND, receives = IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
    struct pair pair;
    struct ibv_wc wc;
    uint64_t value = 0;
    if (!have_counters(sends | receives))
        return;
    struct ibv_comp_cntr *sent = create(IBV_COMP_CNTR_TYPE_WRS), *received = create(IBV_COMP_CNTR_TYPE_WRS);
    CHECK(sent != NULL && received != NULL);
    OPEN(&pair, .unconnected = true);
    CHECK_EQ(attach(pair.qp[0], sent, sends), 0);
    CHECK_EQ(attach(pair.qp[1], received, receives), 0);
    CHECK_EQ(attach(pair.qp[1], sent, receives), EBUSY);
    CHECK_EQ(attach(pair.qp[0], sent, UINT32_MAX), EOPNOTSUPP);
    CHECK_EQ(ibv_destroy_comp_cntr(sent), EBUSY);
    CHECK(pair_connect(&pair, &(struct pair_options){0}));
    CHECK_EQ(attach(pair.qp[0], sent, sends), EINVAL); /* too late */
    for (uint64_t i = 1; i <= 3; ++i) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 10), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
        WAIT_OK(pair.cq[0], &wc);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(ibv_read_comp_cntr(sent, &value), 0);
        CHECK_EQ(value, i);
        CHECK_EQ(ibv_read_comp_cntr(received, &value), 0);
        CHECK_EQ(value, i);
    }
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 10), 0);
    CHECK_EQ(qp_to_error(pair.qp[1]), 0);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(ibv_read_err_comp_cntr(received, &value), 0);
    CHECK_EQ(value, 1);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_cntr(sent), 0);
    CHECK_EQ(ibv_destroy_comp_cntr(received), 0);
}

const struct test comp_cntr_tests[] = {
    {"values", values, true},
    {"counts", counts, true},
    {NULL, NULL, false},
};
