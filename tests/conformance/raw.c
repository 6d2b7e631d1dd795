/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw packet QPs, flow rules, and counters. */
#include "raw.h"

#include <errno.h>
#include <string.h>

enum {
    kType = 0x88b5 /* EtherType */
};

static const uint8_t kStation[6] = {0x02, 0x76, 0x65, 0x72, 0x62, 0x00};

int raw_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state, .port_num = env.port};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0));
}

bool raw_open(struct raw *raw)
{
    if (env.device.max_raw_ethy_qp == 0) {
        test_skip("no raw packet QPs for this process: max_raw_ethy_qp is 0");
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        raw->cq[i] = ibv_create_cq(env.context, 64, NULL, NULL, 0);
        struct ibv_qp_init_attr attr = {.send_cq = raw->cq[i],
                                        .recv_cq = raw->cq[i],
                                        .cap = {16, 16, 4, 4, 64},
                                        .qp_type = IBV_QPT_RAW_PACKET};
        raw->qp[i] = ibv_create_qp(env.pd, &attr);
        if (raw->qp[i] == NULL) {
            test_fail(__FILE__, __LINE__,
                      "ibv_create_qp of a raw packet QP: expected an object, saw errno %d (%s)", errno,
                      strerror(errno));
            return false;
        }
        if (raw_to(raw->qp[i], IBV_QPS_INIT) != 0 || raw_to(raw->qp[i], IBV_QPS_RTR) != 0 ||
            raw_to(raw->qp[i], IBV_QPS_RTS) != 0) {
            test_fail(__FILE__, __LINE__, "ibv_modify_qp: a raw packet QP does not reach RTS");
            return false;
        }
    }
    return true;
}

void raw_close(struct raw *raw)
{
    for (int i = 0; i < 2; ++i) {
        CHECK_EQ(ibv_destroy_qp(raw->qp[i]), 0);
        CHECK_EQ(ibv_destroy_cq(raw->cq[i]), 0);
    }
}

uint32_t write_frame(char *memory, uint8_t to, uint32_t length, unsigned seed)
{
    memcpy(memory, kStation, sizeof(kStation));
    memory[5] = (char)to;
    memcpy(memory + 6, kStation, sizeof(kStation));
    memory[12] = (char)(kType >> 8);
    memory[13] = (char)(kType & 0xff);
    fill(memory + kHeader, length, seed);
    return kHeader + length;
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

struct rule rule_of(enum ibv_flow_attr_type type)
{
    struct rule rule = {.attr = {.type = type, .size = sizeof(struct ibv_flow_attr), .port = env.port},
                        .size = sizeof(struct ibv_flow_attr)};
    return rule;
}

void rule_add(struct rule *rule, const void *spec, size_t size)
{
    memcpy(rule->bytes + rule->size, spec, size);
    rule->size += size;
    rule->attr.size = (uint16_t)rule->size;
    ++rule->attr.num_of_specs;
}

struct rule rule_to(uint8_t to, uint16_t priority)
{
    struct rule rule = rule_of(IBV_FLOW_ATTR_NORMAL);
    struct ibv_flow_spec_eth eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(eth)};
    memcpy(eth.val.dst_mac, kStation, sizeof(kStation));
    eth.val.dst_mac[5] = to;
    memset(eth.mask.dst_mac, 0xff, sizeof(eth.mask.dst_mac));
    rule.attr.priority = priority;
    rule_add(&rule, &eth, sizeof(eth));
    return rule;
}

int send_frame(struct raw *raw, uint8_t to, uint32_t length, unsigned seed)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    return post_send(raw->qp[0], &wr, at(0, 0), write_frame(at(0, 0), to, length, seed));
}

/* Sends one frame and ends its completion. */
#define SEND_FRAME(raw, to, length, seed)               \
    do {                                                \
        struct ibv_wc sent_;                            \
        CHECK_EQ(send_frame(raw, to, length, seed), 0); \
        WAIT_OK((raw)->cq[0], &sent_);                  \
        CHECK_EQ(sent_.opcode, IBV_WC_SEND);            \
    } while (0)

static void raw_frames(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    /* Without a rule, nothing comes. */
    CHECK_EQ(post_recv(raw.qp[1], 1, at(1, 0), 2000), 0);
    SEND_FRAME(&raw, 1, 100, 1);
    CHECK(quiet(raw.cq[1]));
    struct rule rule = rule_to(1, 0);
    struct ibv_flow *flow = ibv_create_flow(raw.qp[1], &rule.attr);
    CHECK_OFFERED(flow, ibv_create_flow);
    CHECK(flow->context == env.context);
    for (uint32_t length = 46; length <= 1400; length = length * 3) {
        memset(at(1, 0), 0, 2000);
        SEND_FRAME(&raw, 1, length, length);
        if (length == 46 && !wait_wc(raw.cq[1], &wc))
            SKIP("the port does not loop frames back");
        if (length != 46)
            WAIT(raw.cq[1], &wc);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.qp_num, raw.qp[1]->qp_num);
        CHECK_EQ(wc.byte_len, length + kHeader);
        CHECK(memcmp(at(1, 0), at(0, 0), length + kHeader) == 0);
        CHECK_EQ(post_recv(raw.qp[1], 1, at(1, 0), 2000), 0);
    }
    CHECK_EQ(ibv_destroy_qp(raw.qp[1]), EBUSY);
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    SEND_FRAME(&raw, 1, 100, 1);
    CHECK(quiet(raw.cq[1]));
    raw_close(&raw);
}

static void raw_pieces(void)
{
    struct raw raw;
    struct ibv_wc wc;
    struct ibv_send_wr *bad;
    struct ibv_recv_wr *bad_recv;
    OPEN_RAW(&raw);
    struct rule rule = rule_to(2, 0);
    struct ibv_flow *flow = ibv_create_flow(raw.qp[1], &rule.attr);
    CHECK_OFFERED(flow, ibv_create_flow);
    struct ibv_sge into[3] = {sge_of(at(1, 0), 7), sge_of(at(1, 100), 20), sge_of(at(1, 200), 500)};
    struct ibv_recv_wr recv = {.sg_list = into, .num_sge = 3};
    CHECK_EQ(ibv_post_recv(raw.qp[1], &recv, &bad_recv), 0);
    const uint32_t length = write_frame(at(0, 0), 2, 86, 5);
    struct ibv_sge from[2] = {sge_of(at(0, 0), 10), sge_of(at(0, 10), length - 10)};
    /* The first is unsignaled; the second goes along in the request, whose memory may change at once. */
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = from, .num_sge = 2, .opcode = IBV_WR_SEND};
    CHECK_EQ(ibv_post_send(raw.qp[0], &wr, &bad), 0);
    WAIT_OK(raw.cq[1], &wc);
    CHECK_EQ(wc.byte_len, length);
    CHECK(memcmp(at(1, 0), at(0, 0), 7) == 0 && memcmp(at(1, 100), at(0, 7), 20) == 0 &&
          memcmp(at(1, 200), at(0, 27), length - 27) == 0);
    char inlined[64];
    write_frame(inlined, 2, 50, 6);
    CHECK_EQ(post_recv(raw.qp[1], 9, at(1, 0), 64), 0);
    from[0] = (struct ibv_sge){.addr = address(inlined), .length = 64};
    wr.wr_id = 2;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
    CHECK_EQ(ibv_post_send(raw.qp[0], &wr, &bad), 0);
    memset(inlined, 0, sizeof(inlined));
    WAIT_OK(raw.cq[0], &wc);
    CHECK_EQ(wc.wr_id, 2);
    WAIT_OK(raw.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 9);
    CHECK(filled(at(1, kHeader), 50, 6));
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    raw_close(&raw);
}

/* The other way to post. */
static void raw_wr(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    struct ibv_qp_init_attr_ex attr = {.send_cq = raw.cq[0],
                                       .recv_cq = raw.cq[0],
                                       .cap = {4, 1, 2, 1, 64},
                                       .qp_type = IBV_QPT_RAW_PACKET,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                       .pd = env.pd,
                                       .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE};
    errno = 0;
    CHECK(ibv_create_qp_ex(env.context, &attr) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
    struct ibv_qp *qp = ibv_create_qp_ex(env.context, &attr);
    CHECK_MADE(qp, ibv_create_qp_ex);
    CHECK_EQ(raw_to(qp, IBV_QPS_INIT), 0);
    CHECK_EQ(raw_to(qp, IBV_QPS_RTR), 0);
    CHECK_EQ(raw_to(qp, IBV_QPS_RTS), 0);
    struct rule rule = rule_to(12, 0);
    struct ibv_flow *flow = ibv_create_flow(raw.qp[1], &rule.attr);
    CHECK_OFFERED(flow, ibv_create_flow);
    CHECK_EQ(post_recv(raw.qp[1], 1, at(1, 0), 200), 0);
    CHECK_EQ(post_recv(raw.qp[1], 2, at(1, 1000), 200), 0);
    const uint32_t length = write_frame(at(0, 0), 12, 50, 4);
    const struct ibv_sge pieces[2] = {sge_of(at(0, 0), 20), sge_of(at(0, 20), length - 20)};
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
    CHECK_MADE(ex, ibv_qp_to_qp_ex);
    ibv_wr_start(ex);
    ex->wr_id = 7;
    ex->wr_flags = 0;
    ibv_wr_send(ex);
    ibv_wr_set_sge_list(ex, 2, pieces);
    ex->wr_id = 8;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(ex);
    ibv_wr_set_inline_data(ex, at(0, 0), length);
    CHECK_EQ(ibv_wr_complete(ex), 0);
    WAIT_OK(raw.cq[0], &wc);
    CHECK_EQ(wc.wr_id, 8);
    for (int i = 0; i < 2; ++i) {
        WAIT_OK(raw.cq[1], &wc);
        CHECK_EQ(wc.byte_len, length);
        CHECK(memcmp(at(1, (size_t)i * 1000), at(0, 0), length) == 0);
    }
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    raw_close(&raw);
}

static void raw_lengths(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    struct rule rule = rule_to(3, 0);
    struct ibv_flow *flow = ibv_create_flow(raw.qp[1], &rule.attr);
    CHECK_OFFERED(flow, ibv_create_flow);
    CHECK_EQ(post_recv(raw.qp[1], 1, at(1, 0), 100), 0);
    CHECK_EQ(post_recv(raw.qp[1], 2, at(1, 0), 101), 0);
    SEND_FRAME(&raw, 3, 101 - kHeader, 1);
    WAIT(raw.cq[1], &wc);
    CHECK_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
    CHECK_EQ(wc.wr_id, 1);
    if (raw.qp[1]->state == IBV_QPS_RTS) {
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;
        CHECK_EQ(ibv_query_qp(raw.qp[1], &attr, IBV_QP_STATE, &init), 0);
        if (attr.qp_state == IBV_QPS_RTS) {
            SEND_FRAME(&raw, 3, 101 - kHeader, 1);
            WAIT_OK(raw.cq[1], &wc);
        }
    }
    /* No frame is that short. */
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    CHECK_EQ(post_send(raw.qp[0], &wr, at(0, 0), kHeader - 1), 0);
    WAIT(raw.cq[0], &wc);
    CHECK_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    raw_close(&raw);
}

static void raw_refused(void)
{
    struct raw raw;
    struct ibv_send_wr *bad;
    OPEN_RAW(&raw);
    struct ibv_sge sge = sge_of(at(0, 0), 60);
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
    CHECK_EQ(ibv_post_send(raw.qp[0], &wr, &bad), EINVAL);
    CHECK(bad == &wr);
    wr.opcode = IBV_WR_SEND_WITH_IMM;
    CHECK_EQ(ibv_post_send(raw.qp[0], &wr, &bad), EINVAL);
    CHECK_EQ(raw_to(raw.qp[0], IBV_QPS_RESET), 0);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 200};
    CHECK_EQ(ibv_modify_qp(raw.qp[0], &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
    attr.port_num = env.port;
    attr.qkey = 1;
    CHECK_EQ(ibv_modify_qp(raw.qp[0], &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_QKEY), EINVAL);
    CHECK_EQ(raw_to(raw.qp[0], IBV_QPS_RTR), EINVAL);
    raw_close(&raw);
}

static void flow_order(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    struct rule last = rule_to(4, 7), first = rule_to(4, 2), shared = rule_to(4, 1);
    shared.attr.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
    struct ibv_flow *flow_last = ibv_create_flow(raw.qp[0], &last.attr);
    struct ibv_flow *flow_first = ibv_create_flow(raw.qp[1], &first.attr);
    CHECK(flow_last != NULL && flow_first != NULL);
    for (int i = 0; i < 4; ++i) {
        CHECK_EQ(post_recv(raw.qp[0], 100, at(1, 0), 200), 0);
        CHECK_EQ(post_recv(raw.qp[1], 200, at(1, 1000), 200), 0);
    }
    SEND_FRAME(&raw, 4, 60, 1);
    WAIT_OK(raw.cq[1], &wc); /* the lower number wins */
    CHECK(quiet(raw.cq[0]));
    CHECK_EQ(ibv_destroy_flow(flow_first), 0);
    CHECK_EQ(send_frame(&raw, 4, 60, 2), 0);
    WAIT_OK(raw.cq[0], &wc);
    WAIT_OK(raw.cq[0], &wc);
    CHECK(quiet(raw.cq[1]));
    struct ibv_flow *flow_shared = ibv_create_flow(raw.qp[1], &shared.attr);
    CHECK_OFFERED(flow_shared, ibv_create_flow);
    CHECK_EQ(send_frame(&raw, 4, 60, 3), 0);
    WAIT_OK(raw.cq[1], &wc);
    WAIT_OK(raw.cq[0], &wc);
    WAIT_OK(raw.cq[0], &wc);
    CHECK_EQ(ibv_destroy_flow(flow_shared), 0);
    CHECK_EQ(ibv_destroy_flow(flow_last), 0);
    raw_close(&raw);
}

/* Of the types that need no specification, only a sniffer gets what others get too. */
static void flow_types(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    struct rule all = rule_of(IBV_FLOW_ATTR_ALL_DEFAULT), sniffer = rule_of(IBV_FLOW_ATTR_SNIFFER);
    struct ibv_flow *flow_all = ibv_create_flow(raw.qp[0], &all.attr);
    CHECK_OFFERED(flow_all, ibv_create_flow);
    CHECK_EQ(post_recv(raw.qp[0], 100, at(1, 0), 200), 0);
    CHECK_EQ(send_frame(&raw, 5, 60, 1), 0);
    WAIT_OK(raw.cq[0], &wc);
    WAIT_OK(raw.cq[0], &wc);
    struct ibv_flow *flow_sniffer = ibv_create_flow(raw.qp[1], &sniffer.attr);
    if (flow_sniffer != NULL) {
        CHECK_EQ(post_recv(raw.qp[0], 100, at(1, 0), 200), 0);
        CHECK_EQ(post_recv(raw.qp[1], 200, at(1, 1000), 200), 0);
        CHECK_EQ(send_frame(&raw, 5, 60, 2), 0);
        WAIT_OK(raw.cq[1], &wc);
        WAIT_OK(raw.cq[0], &wc);
        WAIT_OK(raw.cq[0], &wc);
        CHECK_EQ(ibv_destroy_flow(flow_sniffer), 0);
    } else {
        CHECK_EQ(errno, EOPNOTSUPP);
    }
    CHECK_EQ(ibv_destroy_flow(flow_all), 0);
    raw_close(&raw);
}

#define CREATE_FAILS(qp, rule, error)                     \
    do {                                                  \
        errno = 0;                                        \
        CHECK(ibv_create_flow(qp, &(rule).attr) == NULL); \
        CHECK_EQ(errno, error);                           \
    } while (0)

static void flow_errors(void)
{
    struct raw raw;
    OPEN_RAW(&raw);
    struct rule rule = rule_to(6, 0);
    rule.attr.port = 0;
    CREATE_FAILS(raw.qp[0], rule, EINVAL);
    rule = rule_to(6, 0);
    rule.attr.port = 200;
    CREATE_FAILS(raw.qp[0], rule, EINVAL);
    rule = rule_to(6, 0);
    rule.attr.flags = 1u << 20;
    CREATE_FAILS(raw.qp[0], rule, EINVAL);
    rule = rule_of((enum ibv_flow_attr_type)9);
    CREATE_FAILS(raw.qp[0], rule, EINVAL);
    struct ibv_flow_spec_action_drop unknown = {.type = (enum ibv_flow_spec_type)0x22,
                                                .size = sizeof(unknown)};
    rule = rule_to(6, 0);
    rule_add(&rule, &unknown, sizeof(unknown));
    CREATE_FAILS(raw.qp[0], rule, EINVAL);
    struct ibv_flow_spec_ipv4 ipv4 = {.type = IBV_FLOW_SPEC_IPV4, .size = sizeof(ipv4) - 4};
    rule = rule_to(6, 0);
    rule_add(&rule, &ipv4, sizeof(ipv4));
    CREATE_FAILS(raw.qp[0], rule, EINVAL);
    struct pair pair;
    OPEN(&pair, .unconnected = true);
    rule = rule_to(6, 0);
    CREATE_FAILS(pair.qp[0], rule, EINVAL);
    pair_close(&pair);
    raw_close(&raw);
}

static void flow_tag(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    struct ibv_cq_init_attr_ex cq_attr = {.cqe = 8,
                                          .wc_flags = IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_BYTE_LEN};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(env.context, &cq_attr);
    CHECK_OFFERED(cq, ibv_create_cq_ex);
    struct ibv_qp_init_attr attr = {.send_cq = ibv_cq_ex_to_cq(cq),
                                    .recv_cq = ibv_cq_ex_to_cq(cq),
                                    .cap = {1, 4, 1, 1, 0},
                                    .qp_type = IBV_QPT_RAW_PACKET};
    struct ibv_qp *qp = ibv_create_qp(env.pd, &attr);
    CHECK_MADE(qp, ibv_create_qp);
    CHECK_EQ(raw_to(qp, IBV_QPS_INIT), 0);
    CHECK_EQ(raw_to(qp, IBV_QPS_RTR), 0);
    struct ibv_flow_spec_action_tag tag = {
        .type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof(tag), .tag_id = 0xabcde};
    struct rule tagged = rule_to(7, 0), plain = rule_to(8, 0);
    rule_add(&tagged, &tag, sizeof(tag));
    struct ibv_flow *flow = ibv_create_flow(qp, &tagged.attr), *other = ibv_create_flow(qp, &plain.attr);
    CHECK(flow != NULL && other != NULL);
    for (uint8_t to = 7; to <= 8; ++to) {
        struct ibv_poll_cq_attr poll = {0};
        CHECK_EQ(post_recv(qp, to, at(1, 0), 200), 0);
        CHECK_EQ(send_frame(&raw, to, 60, 1), 0);
        WAIT_OK(raw.cq[0], &wc);
        int none = ENOENT;
        for (int i = 0; i < 50000000 && none == ENOENT; ++i)
            none = ibv_start_poll(cq, &poll);
        CHECK_EQ(none, 0);
        CHECK_EQ(cq->status, IBV_WC_SUCCESS);
        CHECK_EQ(ibv_wc_read_flow_tag(cq), to == 7 ? 0xabcde : 0);
        CHECK_EQ(ibv_wc_read_byte_len(cq), 60 + kHeader);
        ibv_end_poll(cq);
    }
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    CHECK_EQ(ibv_destroy_flow(other), 0);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    raw_close(&raw);
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

static void counters_of_flows(void)
{
    struct raw raw;
    struct ibv_wc wc;
    OPEN_RAW(&raw);
    struct ibv_counters_init_attr init = {0};
    errno = 0;
    struct ibv_counters *counters = ibv_create_counters(env.context, &init);
    if (counters == NULL) {
        CHECK_EQ(errno, EOPNOTSUPP);
        SKIP("ibv_create_counters: %s", strerror(EOPNOTSUPP));
    }
    struct ibv_counter_attach_attr attach = {.counter_desc = IBV_COUNTER_PACKETS, .index = 0};
    uint64_t values[3] = {9, 9, 9};
    CHECK(ibv_read_counters(counters, values, 2, 0) != 0);
    CHECK_EQ(ibv_attach_counters_point_flow(counters, &attach, NULL), 0);
    attach.counter_desc = IBV_COUNTER_BYTES;
    attach.index = 1;
    CHECK_EQ(ibv_attach_counters_point_flow(counters, &attach, NULL), 0);
    CHECK_EQ(ibv_read_counters(counters, values, 2, 0), 0);
    CHECK(values[0] == 0 && values[1] == 0 && values[2] == 9);
    struct ibv_flow_spec_counter_action count = {
        .type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof(count), .counters = counters};
    struct ibv_flow_spec_action_drop drop = {.type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(drop)};
    struct rule counted = rule_to(9, 1), dropped = rule_to(10, 1);
    rule_add(&counted, &count, sizeof(count));
    rule_add(&dropped, &count, sizeof(count));
    rule_add(&dropped, &drop, sizeof(drop));
    struct ibv_flow *flow = ibv_create_flow(raw.qp[1], &counted.attr);
    struct ibv_flow *dropping = ibv_create_flow(raw.qp[1], &dropped.attr);
    CHECK(flow != NULL && dropping != NULL);
    CHECK_EQ(ibv_destroy_counters(counters), EBUSY);
    CHECK_EQ(ibv_attach_counters_point_flow(counters, &attach, NULL), EBUSY);
    CHECK_EQ(post_recv(raw.qp[1], 1, at(1, 0), 200), 0);
    CHECK_EQ(post_recv(raw.qp[1], 2, at(1, 0), 200), 0);
    SEND_FRAME(&raw, 10, 70, 1);
    SEND_FRAME(&raw, 9, 60, 2);
    WAIT_OK(raw.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 60 + kHeader);
    CHECK(quiet(raw.cq[1])); /* what is dropped does not come */
    CHECK_EQ(ibv_read_counters(counters, values, 2, IBV_READ_COUNTERS_ATTR_PREFER_CACHED), 0);
    CHECK_EQ(ibv_read_counters(counters, values, 2, 0), 0);
    CHECK_EQ(values[0], 2);
    CHECK_EQ(values[1], 70 + 60 + 2 * kHeader);
    CHECK(ibv_read_counters(counters, values, 2, 1u << 20) != 0);
    CHECK_EQ(ibv_destroy_flow(flow), 0);
    CHECK_EQ(ibv_destroy_counters(counters), EBUSY);
    CHECK_EQ(ibv_destroy_flow(dropping), 0);
    attach.index = 2;
    CHECK_EQ(ibv_attach_counters_point_flow(counters, &attach, NULL), 0);
    CHECK_EQ(ibv_read_counters(counters, values, 3, 0), 0);
    CHECK(values[0] == 2 && values[2] == 0);
    attach.counter_desc = (enum ibv_counter_description)77;
    CHECK_EQ(ibv_attach_counters_point_flow(counters, &attach, NULL), EOPNOTSUPP);
    CHECK_EQ(ibv_destroy_counters(counters), 0);
    raw_close(&raw);
}

const struct test raw_tests[] = {
    {"raw_frames", raw_frames, false},
    {"raw_pieces", raw_pieces, false},
    {"raw_wr", raw_wr, false},
    {"raw_lengths", raw_lengths, false},
    {"raw_refused", raw_refused, false},
    {"flow_order", flow_order, false},
    {"flow_types", flow_types, false},
    {"flow_errors", flow_errors, false},
    {"flow_tag", flow_tag, false},
    {"counters_of_flows", counters_of_flows, false},
    {NULL, NULL, false},
};
