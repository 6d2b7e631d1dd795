/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs, address handles, multicast, posts through the kernel. */
#include <fcntl.h>

#include "calls.h"

static struct ibv_cq *cq;

static struct ibv_qp_init_attr plain(enum ibv_qp_type type)
{
    return (struct ibv_qp_init_attr){.qp_context = page,
                                     .send_cq = cq,
                                     .recv_cq = cq,
                                     .cap = {.max_send_wr = 8,
                                             .max_recv_wr = 8,
                                             .max_send_sge = 2,
                                             .max_recv_sge = 2,
                                             .max_inline_data = 32},
                                     .qp_type = type};
}

static void create_calls(void)
{
    static const int types[] = {IBV_QPT_RC,       IBV_QPT_UC,       IBV_QPT_UD,     IBV_QPT_RAW_PACKET,
                                IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER, 77};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct ibv_qp_init_attr attr = plain((enum ibv_qp_type)types[i]);
        struct ibv_qp *qp;
        call("create_qp type %d", types[i]);
        OBJECT(qp, ibv_create_qp(pd, &attr));
        if (qp != NULL) {
            bytes("cap", &attr.cap, sizeof attr.cap);
            field("state", qp->state);
            field("type", qp->qp_type);
            field("members", qp->context == context && qp->pd == pd && qp->send_cq == cq &&
                                 qp->recv_cq == cq && qp->srq == NULL && qp->qp_context == page);
        }
        call("destroy_qp type %d", types[i]);
        DESTROY(qp, ibv_destroy_qp(qp));
    }
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &srq_attr);
    struct ibv_qp_init_attr attr = plain(IBV_QPT_RC);
    attr.srq = srq;
    attr.sq_sig_all = 1;
    struct ibv_qp *qp;
    call("create_qp with an SRQ");
    OBJECT(qp, ibv_create_qp(pd, &attr));
    call("destroy_srq of a QP");
    DESTROY_IN_USE(qp, srq, ibv_destroy_srq(srq));
    call("destroy_cq of a QP");
    DESTROY_IN_USE(qp, cq, ibv_destroy_cq(cq));
    call("destroy_qp with an SRQ");
    DESTROY(qp, ibv_destroy_qp(qp));
    CLEAN(srq, ibv_destroy_srq(srq));
}

static void create_ex_calls(void)
{
    struct ibv_xrcd_init_attr domain = {.comp_mask = 3, .fd = -1, .oflags = O_CREAT};
    struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &domain);
    const struct {
        const char *label;
        enum ibv_qp_type type;
        uint32_t comp_mask, create_flags, source_qpn;
    } cases[] = {
        {"PD", IBV_QPT_RC, IBV_QP_INIT_ATTR_PD, 0, 0},
        {"PD and no flags", IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS, 0, 0},
        {"loopback blocked", IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
         IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, 0},
        {"scatter FCS", IBV_QPT_RAW_PACKET, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
         IBV_QP_CREATE_SCATTER_FCS, 0},
        {"source QPN", IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
         IBV_QP_CREATE_SOURCE_QPN, 0x77},
        {"unknown flag", IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS, 1U << 28, 0},
        {"no PD", IBV_QPT_RC, 0, 0, 0},
        {"XRC target", IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD, 0, 0},
        {"XRC initiator", IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_PD, 0, 0},
        {"unknown comp_mask", IBV_QPT_RC, IBV_QP_INIT_ATTR_PD | 1U << 20, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if ((cases[i].comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0 && xrcd == NULL)
            continue; /* the stock library looks into it */
        struct ibv_qp_init_attr attr = plain(cases[i].type);
        struct ibv_qp_init_attr_ex attr_ex = {.qp_context = page,
                                              .send_cq = cq,
                                              .recv_cq = cq,
                                              .cap = attr.cap,
                                              .qp_type = cases[i].type,
                                              .comp_mask = cases[i].comp_mask,
                                              .pd = pd,
                                              .xrcd = xrcd,
                                              .create_flags = cases[i].create_flags,
                                              .source_qpn = cases[i].source_qpn};
        struct ibv_qp *qp;
        call("create_qp_ex %s", cases[i].label);
        OBJECT(qp, ibv_create_qp_ex(context, &attr_ex));
        if (qp != NULL)
            bytes("cap", &attr_ex.cap, sizeof attr_ex.cap);
        if (qp != NULL && cases[i].type == IBV_QPT_XRC_RECV) {
            struct ibv_qp_open_attr open_attr = {
                .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
                .qp_num = qp->qp_num,
                .xrcd = xrcd,
                .qp_type = IBV_QPT_XRC_RECV};
            struct ibv_qp *shared;
            call("open_qp");
            OBJECT(shared, ibv_open_qp(context, &open_attr));
            call("destroy_qp opened");
            DESTROY(shared, ibv_destroy_qp(shared));
            open_attr.comp_mask = IBV_QP_OPEN_ATTR_NUM;
            call("open_qp without a domain");
            OBJECT(shared, ibv_open_qp(context, &open_attr));
            open_attr.comp_mask = 7 | 1U << 9;
            call("open_qp unknown comp_mask");
            OBJECT(shared, ibv_open_qp(context, &open_attr));
            call("close_xrcd in use");
            DESTROY_IN_USE(qp, xrcd, ibv_close_xrcd(xrcd));
        }
        call("destroy_qp extended %s", cases[i].label);
        DESTROY(qp, ibv_destroy_qp(qp));
    }
    CLEAN(xrcd, ibv_close_xrcd(xrcd));
}

static void rss_calls(void)
{
    struct ibv_wq_init_attr wq_attr = {.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 2, .pd = pd, .cq = cq};
    struct ibv_wq *wq = ibv_create_wq(context, &wq_attr);
    if (wq == NULL)
        return;
    struct ibv_rwq_ind_table_init_attr table_attr = {.log_ind_tbl_size = 0, .ind_tbl = &wq};
    struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(context, &table_attr);
    uint8_t key[40] = {1, 2, 3};
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = IBV_QPT_RAW_PACKET,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
        .pd = pd,
        .rwq_ind_tbl = table,
        .rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                         .rx_hash_key_len = sizeof key,
                         .rx_hash_key = key,
                         .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4}};
    struct ibv_qp *qp;
    call("create_qp_ex spread over work queues");
    OBJECT(qp, ibv_create_qp_ex(context, &attr));
    call("destroy_rwq_ind_table in use");
    DESTROY_IN_USE(qp, table, ibv_destroy_rwq_ind_table(table));
    call("destroy_qp spread over work queues");
    DESTROY(qp, ibv_destroy_qp(qp));
    CLEAN(table, ibv_destroy_rwq_ind_table(table));
    CLEAN(wq, ibv_destroy_wq(wq));
}

static void modify_calls(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = 1, .qp_access_flags = 7};
    call("modify_qp to INIT");
    ANSWER(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    field("state", qp->state);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .rq_psn = 0x123456,
                                .dest_qp_num = 0x10011,
                                .max_dest_rd_atomic = 2,
                                .min_rnr_timer = 12,
                                .ah_attr = {.grh = {.dgid = {.raw = {0xfe, 0x80, [15] = 7}},
                                                    .flow_label = 0x12345,
                                                    .sgid_index = 1,
                                                    .hop_limit = 64,
                                                    .traffic_class = 8},
                                            .dlid = 9,
                                            .sl = 3,
                                            .src_path_bits = 1,
                                            .static_rate = IBV_RATE_10_GBPS,
                                            .is_global = 1,
                                            .port_num = 1}};
    call("modify_qp to RTR");
    ANSWER(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    field("state", qp->state);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 6,
                                .sq_psn = 0x654321,
                                .max_rd_atomic = 3};
    call("modify_qp to RTS");
    ANSWER(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                             IBV_QP_MAX_QP_RD_ATOMIC));
    field("state", qp->state);
    attr.rate_limit = 12345;
    call("modify_qp rate limit");
    ANSWER(ibv_modify_qp(qp, &attr, IBV_QP_RATE_LIMIT));
    attr.alt_port_num = 1;
    attr.alt_timeout = 9;
    attr.path_mig_state = IBV_MIG_REARM;
    call("modify_qp alternate path");
    ANSWER(ibv_modify_qp(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
    call("modify_qp nothing");
    ANSWER(ibv_modify_qp(qp, &attr, 0));
    call("modify_qp unknown");
    ANSWER(ibv_modify_qp(qp, &attr, 1 << 30));
    attr.cur_qp_state = IBV_QPS_RTS;
    attr.qp_state = IBV_QPS_SQD;
    attr.en_sqd_async_notify = 1;
    call("modify_qp to SQD");
    ANSWER(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
    field("state", qp->state);

    struct ibv_qp_attr got;
    struct ibv_qp_init_attr init;
    static const int masks[] = {IBV_QP_STATE, IBV_QP_CAP | IBV_QP_AV, 0, -1};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        memset(&got, 0, sizeof got);
        memset(&init, 0, sizeof init);
        call("query_qp %#x", (unsigned)masks[i]);
        ANSWER(ibv_query_qp(qp, &got, masks[i], &init));
        bytes("qp_attr", &got, sizeof got);
        bytes("cap", &init.cap, sizeof init.cap);
        field("members", init.send_cq == qp->send_cq && init.qp_context == qp->qp_context);
        field("sq_sig_all", (uint64_t)init.sq_sig_all);
    }
    struct ibv_qp_rate_limit_attr rate = {.rate_limit = 1000};
    call("modify_qp_rate_limit");
    ANSWER(ibv_modify_qp_rate_limit(qp, &rate));
    struct ibv_ece ece = {.vendor_id = 1};
    call("set_ece");
    ANSWER(ibv_set_ece(qp, &ece));
    call("query_ece");
    ANSWER(ibv_query_ece(qp, &ece));
    call("query_qp_data_in_order");
    ANSWER(ibv_query_qp_data_in_order(qp, IBV_WR_SEND, 0));
    call("qp_to_qp_ex");
    ANSWER(ibv_qp_to_qp_ex(qp) != NULL);
}

static void post_calls(struct ibv_qp *qp)
{
    struct ibv_sge sge[2] = {{.addr = 0x1000, .length = 64, .lkey = 5},
                             {.addr = 0x2000, .length = 32, .lkey = 6}};
    static const enum ibv_wr_opcode opcodes[] = {
        IBV_WR_SEND,      IBV_WR_SEND_WITH_IMM,      IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_WRITE_WITH_IMM,
        IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD};
    struct ibv_send_wr *bad_send = NULL;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        struct ibv_send_wr wr = {.wr_id = 0x1122334455667788,
                                 .sg_list = sge,
                                 .num_sge = 2,
                                 .opcode = opcodes[i],
                                 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
                                 .imm_data = 0x01020304};
        if (opcodes[i] >= IBV_WR_ATOMIC_CMP_AND_SWP) {
            wr.wr.atomic.remote_addr = 0x7000;
            wr.wr.atomic.compare_add = 1;
            wr.wr.atomic.swap = 2;
            wr.wr.atomic.rkey = 99;
        } else {
            wr.wr.rdma.remote_addr = 0x7000;
            wr.wr.rdma.rkey = 99;
        }
        call("post_send opcode %d", (int)opcodes[i]);
        ANSWER(ibv_post_send(qp, &wr, &bad_send));
    }
    struct ibv_send_wr second = {.wr_id = 2},
                       first = {.wr_id = 1, .next = &second, .sg_list = sge, .num_sge = 1};
    call("post_send of two");
    ANSWER(ibv_post_send(qp, &first, &bad_send));
    struct ibv_recv_wr recv_second = {.wr_id = 4},
                       recv_first = {.wr_id = 3, .next = &recv_second, .sg_list = sge, .num_sge = 2};
    struct ibv_recv_wr *bad_recv = NULL;
    call("post_recv of two");
    ANSWER(ibv_post_recv(qp, &recv_first, &bad_recv));
}

void calls_qp(void)
{
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    if (cq == NULL)
        return;
    create_calls();
    create_ex_calls();
    rss_calls();
    struct ibv_qp_init_attr attr = plain(IBV_QPT_RC);
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    if (qp != NULL) {
        modify_calls(qp);
        post_calls(qp);
        call("destroy_qp");
        DESTROY(qp, ibv_destroy_qp(qp));
    }
    attr = plain(IBV_QPT_UD);
    qp = ibv_create_qp(pd, &attr);
    if (qp != NULL) {
        union ibv_gid group = {.raw = {0xff, 0x0e, [15] = 1}};
        call("attach_mcast");
        ANSWER(ibv_attach_mcast(qp, &group, 0xc001));
        call("attach_mcast again");
        ANSWER(ibv_attach_mcast(qp, &group, 0xc001));
        call("detach_mcast");
        ANSWER(ibv_detach_mcast(qp, &group, 0xc001));
        call("detach_mcast of no group");
        ANSWER(ibv_detach_mcast(qp, &group, 0xc002));
        call("destroy_qp UD");
        DESTROY(qp, ibv_destroy_qp(qp));
    }
    call("destroy_cq of queue pairs");
    DESTROY(cq, ibv_destroy_cq(cq));
}

void calls_ah(void)
{
    static const struct ibv_ah_attr attrs[] = {
        {.dlid = 5, .sl = 2, .src_path_bits = 1, .static_rate = IBV_RATE_40_GBPS, .port_num = 1},
        {.is_global = 1,
         .grh = {.dgid = {.raw = {0xfe, 0x80, [15] = 9}},
                 .flow_label = 0xfffff,
                 .hop_limit = 1,
                 .traffic_class = 0xff},
         .port_num = 1},
        {.port_num = 0},
        {.port_num = 99},
        {.is_global = 1, .grh = {.sgid_index = 200}, .port_num = 1},
    };
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        struct ibv_ah_attr attr = attrs[i];
        struct ibv_ah *ah;
        call("create_ah %zu", i);
        OBJECT(ah, ibv_create_ah(pd, &attr));
        call("destroy_ah %zu", i);
        DESTROY(ah, ibv_destroy_ah(ah));
    }
    struct ibv_grh grh = {.version_tclass_flow = 0x45230160, .next_hdr = 0x1b, .hop_limit = 9};
    struct ibv_wc wc = {.src_qp = 7, .slid = 11, .sl = 3, .dlid_path_bits = 2, .wc_flags = 0};
    struct ibv_ah_attr attr;
    memset(&attr, 0, sizeof attr);
    call("init_ah_from_wc");
    ANSWER(ibv_init_ah_from_wc(context, 1, &wc, &grh, &attr));
    bytes("ah_attr", &attr, sizeof attr);
    struct ibv_ah *ah;
    call("create_ah_from_wc");
    OBJECT(ah, ibv_create_ah_from_wc(pd, &wc, &grh, 1));
    call("destroy_ah from_wc");
    DESTROY(ah, ibv_destroy_ah(ah));
}
