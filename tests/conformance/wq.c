/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues, and receive-side scaling over them. */
#include <errno.h>
#include <string.h>

#include "raw.h"

static struct ibv_wq *make_wq(struct ibv_cq *cq)
{
    struct ibv_wq_init_attr attr = {
        .wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 2, .pd = env.pd, .cq = cq};
    return ibv_create_wq(env.context, &attr);
}

static int wq_to(struct ibv_wq *wq, enum ibv_wq_state state)
{
    struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = state};
    return ibv_modify_wq(wq, &attr);
}

static int post_wq(struct ibv_wq *wq, uint64_t wr_id, void *memory, uint32_t length)
{
    struct ibv_sge sge = sge_of(memory, length);
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_wq_recv(wq, &wr, &bad);
}

static bool has_wq(void)
{
    struct ibv_device_attr_ex attr;
    if (ibv_query_device_ex(env.context, NULL, &attr) == 0 && attr.max_wq_type_rq != 0)
        return true;
    test_skip("no work queues for this process: max_wq_type_rq is 0");
    return false;
}

static void wq_states(void)
{
    struct ibv_wc wc;
    if (!has_wq())
        return;
    struct ibv_cq *cq = ibv_create_cq(env.context, 64, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    struct ibv_wq *wq = make_wq(cq);
    CHECK_MADE(wq, ibv_create_wq);
    CHECK(wq->context == env.context && wq->pd == env.pd && wq->cq == cq && wq->wq_type == IBV_WQT_RQ);
    CHECK_EQ(wq->state, IBV_WQS_RESET);
    CHECK_EQ(ibv_destroy_cq(cq), EBUSY);
    struct ibv_wq_attr wrong = {.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
                                .wq_state = IBV_WQS_RDY,
                                .curr_wq_state = IBV_WQS_ERR};
    CHECK_EQ(ibv_modify_wq(wq, &wrong), EINVAL);
    CHECK_EQ(wq->state, IBV_WQS_RESET);
    CHECK_EQ(wq_to(wq, (enum ibv_wq_state)7), EINVAL);
    CHECK_EQ(wq_to(wq, IBV_WQS_RDY), 0);
    CHECK_EQ(wq->state, IBV_WQS_RDY);
    for (uint64_t i = 0; i < 3; ++i)
        CHECK_EQ(post_wq(wq, 40 + i, at(1, 0), 100), 0);
    CHECK(quiet(cq));
    CHECK_EQ(wq_to(wq, IBV_WQS_ERR), 0);
    for (uint64_t i = 0; i < 3; ++i) {
        WAIT(cq, &wc);
        CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(wc.wr_id, 40 + i);
        CHECK_EQ(wc.qp_num, wq->wq_num);
    }
    CHECK_EQ(wq_to(wq, IBV_WQS_RDY), EINVAL); /* by way of RESET */
    CHECK_EQ(wq_to(wq, IBV_WQS_RESET), 0);
    CHECK_EQ(wq_to(wq, IBV_WQS_RDY), 0);
    CHECK_EQ(ibv_destroy_wq(wq), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
}

static void wq_errors(void)
{
    if (!has_wq())
        return;
    struct ibv_cq *cq = ibv_create_cq(env.context, 64, NULL, NULL, 0);
    struct ibv_wq_init_attr attr = {
        .wq_type = (enum ibv_wq_type)5, .max_wr = 1, .max_sge = 1, .pd = env.pd, .cq = cq};
    errno = 0;
    CHECK(ibv_create_wq(env.context, &attr) == NULL);
    CHECK(errno == EINVAL || errno == EOPNOTSUPP);
    attr.wq_type = IBV_WQT_RQ;
    attr.max_wr = (uint32_t)env.device.max_qp_wr + 1;
    errno = 0;
    CHECK(ibv_create_wq(env.context, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
    struct ibv_wq *wq = make_wq(cq);
    CHECK_MADE(wq, ibv_create_wq);
    struct ibv_rwq_ind_table_init_attr table = {.log_ind_tbl_size = 20, .ind_tbl = &wq};
    errno = 0;
    CHECK(ibv_create_rwq_ind_table(env.context, &table) == NULL);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(ibv_destroy_wq(wq), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
}

/* An RSS QP spreads datagrams by their ports over two work queues: what of one flow stays in one queue, and both get
 * some. */
static void rss(void)
{
    enum { kQueues = 2, kFlows = 8 };
    struct raw raw;
    struct ibv_wc wc;
    struct ibv_wq *wq[kQueues];
    struct ibv_cq *cq[kQueues];
    uint8_t key[40];
    OPEN_RAW(&raw);
    if (!has_wq())
        return;
    for (int i = 0; i < kQueues; ++i) {
        cq[i] = ibv_create_cq(env.context, 64, NULL, NULL, 0);
        wq[i] = make_wq(cq[i]);
        CHECK_MADE(wq[i], ibv_create_wq);
        CHECK_EQ(wq_to(wq[i], IBV_WQS_RDY), 0);
        for (uint64_t n = 0; n < 16; ++n)
            CHECK_EQ(post_wq(wq[i], (uint64_t)i, at(1, 1000 * n), 1000), 0);
    }
    struct ibv_rwq_ind_table_init_attr table_attr = {.log_ind_tbl_size = 1, .ind_tbl = wq};
    struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(env.context, &table_attr);
    CHECK_OFFERED(table, ibv_create_rwq_ind_table);
    CHECK_EQ(ibv_destroy_wq(wq[0]), EBUSY);
    for (unsigned i = 0; i < sizeof(key); ++i)
        key[i] = (uint8_t)(i * 37 + 11);
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = IBV_QPT_RAW_PACKET,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
        .pd = env.pd,
        .rwq_ind_tbl = table,
        .rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                         .rx_hash_key_len = 39,
                         .rx_hash_key = key,
                         .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
                                                IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP}};
    errno = 0;
    CHECK(ibv_create_qp_ex(env.context, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
    attr.rx_hash_conf.rx_hash_key_len = sizeof(key);
    struct ibv_qp *qp = ibv_create_qp_ex(env.context, &attr);
    CHECK_MADE(qp, ibv_create_qp_ex);
    CHECK_EQ(ibv_destroy_rwq_ind_table(table), EBUSY);
    struct rule rule = rule_to(11, 0);
    struct ibv_flow *flow = ibv_create_flow(qp, &rule.attr);
    CHECK_OFFERED(flow, ibv_create_flow);
    /* IPv4 (RFC 791) and UDP headers, whose addresses are nobody's. */
    static const uint8_t headers[28] = {0x45, 0, 0,   46, 0,   0, 0,   0,  64,  17,
                                        0,    0, 198, 51, 100, 1, 198, 51, 100, 2};
    int queue_of[kFlows], got[kQueues] = {0};
    for (int round = 0; round < 2; ++round)
        for (int port = 0; port < kFlows; ++port) {
            const uint32_t length = write_frame(at(0, 0), 11, 46, 1);
            at(0, 12)[0] = 0x08;
            at(0, 13)[0] = 0x00;
            memcpy(at(0, kHeader), headers, sizeof(headers));
            at(0, kHeader + 21)[0] = (char)port;
            at(0, kHeader + 25)[0] = 26;
            struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
            CHECK_EQ(post_send(raw.qp[0], &wr, at(0, 0), length), 0);
            WAIT_OK(raw.cq[0], &wc);
            int queue = -1;
            for (int i = 0; i < 50000000 && queue < 0; ++i)
                for (int q = 0; q < kQueues && queue < 0; ++q)
                    if (ibv_poll_cq(cq[q], 1, &wc) == 1)
                        queue = q;
            CHECK(queue >= 0);
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            CHECK_EQ(wc.byte_len, length);
            CHECK_EQ(wc.qp_num, wq[queue]->wq_num);
            if (round == 0)
                queue_of[port] = queue;
            CHECK_EQ(queue_of[port], queue);
            ++got[queue];
        }
    CHECK(got[0] != 0 && got[1] != 0);
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_rwq_ind_table(table), 0);
    for (int i = 0; i < kQueues; ++i) {
        CHECK_EQ(ibv_destroy_wq(wq[i]), 0);
        CHECK_EQ(ibv_destroy_cq(cq[i]), 0);
    }
    raw_close(&raw);
}

const struct test wq_tests[] = {
    {"wq_states", wq_states, false},
    {"wq_errors", wq_errors, false},
    {"rss", rss, false},
    {NULL, NULL, false},
};
