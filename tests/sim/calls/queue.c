/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues and channels, shared receive queues, work queues, XRC domains. */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "calls.h"

static void extended_cq_calls(void)
{
    static const struct {
        const char *label;
        struct ibv_cq_init_attr_ex attr;
    } cases[] = {
        {"plain", {.cqe = 16}},
        {"all standard fields", {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS}},
        {"timestamp", {.cqe = 16, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP}},
        {"unknown field", {.cqe = 16, .wc_flags = 1U << 30}},
        {"single threaded",
         {.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED}},
        {"ignore overrun",
         {.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}},
        {"both flags", {.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 3}},
        {"unknown flag", {.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 1U << 20}},
        {"unknown comp_mask", {.cqe = 16, .comp_mask = 1U << 10}},
        {"no entries", {.cqe = 0}},
        {"vector 1", {.cqe = 16, .comp_vector = 1}},
        {"vector 99", {.cqe = 16, .comp_vector = 99}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ibv_cq_init_attr_ex attr = cases[i].attr;
        struct ibv_cq_ex *cq;
        call("create_cq_ex %s", cases[i].label);
        OBJECT(cq, ibv_create_cq_ex(context, &attr));
        if (cq != NULL)
            field("cqe", (uint64_t)cq->cqe);
        call("destroy_cq extended %s", cases[i].label);
        DESTROY(cq, ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
    }
}

void calls_cq(void)
{
    static const int sizes[] = {1, 100, 0, -1, 1 << 30};
    struct ibv_cq *cq;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        call("create_cq %d", sizes[i]);
        OBJECT(cq, ibv_create_cq(context, sizes[i], NULL, NULL, 0));
        if (cq != NULL) {
            field("cqe", (uint64_t)cq->cqe);
            field("members", cq->context == context && cq->channel == NULL && cq->cq_context == NULL);
        }
        call("destroy_cq %d", sizes[i]);
        DESTROY(cq, ibv_destroy_cq(cq));
    }
    call("create_cq vector -1");
    OBJECT(cq, ibv_create_cq(context, 10, NULL, NULL, -1));
    call("create_cq vector 99");
    OBJECT(cq, ibv_create_cq(context, 10, NULL, NULL, 99));
    extended_cq_calls();

    cq = ibv_create_cq(context, 10, page, NULL, 0);
    if (cq == NULL)
        return;
    call("resize_cq");
    ANSWER(ibv_resize_cq(cq, 100));
    field("cqe", (uint64_t)cq->cqe);
    call("resize_cq to none");
    ANSWER(ibv_resize_cq(cq, 0));
    call("resize_cq to less than none");
    ANSWER(ibv_resize_cq(cq, -1));
    struct ibv_modify_cq_attr modify = {.attr_mask = IBV_CQ_ATTR_MODERATE,
                                        .moderate = {.cq_count = 4, .cq_period = 10}};
    call("modify_cq");
    ANSWER(ibv_modify_cq(cq, &modify));
    modify.attr_mask = 0;
    call("modify_cq nothing");
    ANSWER(ibv_modify_cq(cq, &modify));
    modify.attr_mask = 2;
    call("modify_cq unknown");
    ANSWER(ibv_modify_cq(cq, &modify));
    struct ibv_wc wc[2];
    call("poll_cq");
    ANSWER(ibv_poll_cq(cq, 2, wc));
    call("poll_cq of none");
    ANSWER(ibv_poll_cq(cq, 0, wc));
    call("req_notify_cq");
    ANSWER(ibv_req_notify_cq(cq, 0));
    call("req_notify_cq solicited");
    ANSWER(ibv_req_notify_cq(cq, 1));
    call("destroy_cq");
    DESTROY(cq, ibv_destroy_cq(cq));
}

void calls_event(void)
{
    struct ibv_comp_channel *channel;
    call("create_comp_channel");
    OBJECT(channel, ibv_create_comp_channel(context));
    if (channel == NULL)
        return;
    field("refcnt", (uint64_t)channel->refcnt);
    struct ibv_cq *cq;
    call("create_cq with a channel");
    OBJECT(cq, ibv_create_cq(context, 10, page, channel, 0));
    field("refcnt", (uint64_t)channel->refcnt);
    call("destroy_comp_channel in use");
    DESTROY_IN_USE(cq, channel, ibv_destroy_comp_channel(channel));
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
    struct ibv_cq *event_cq = NULL;
    void *event_context = NULL;
    call("get_cq_event without one");
    ANSWER(ibv_get_cq_event(channel, &event_cq, &event_context));
    call("destroy_cq with a channel");
    DESTROY(cq, ibv_destroy_cq(cq));
    call("destroy_comp_channel");
    DESTROY(channel, ibv_destroy_comp_channel(channel));

    fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
    struct ibv_async_event event;
    call("get_async_event without one");
    ANSWER(ibv_get_async_event(context, &event));
}

static void extended_srq_calls(void)
{
    struct ibv_xrcd_init_attr domain = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &domain);
    struct ibv_cq *cq = ibv_create_cq(context, 10, NULL, NULL, 0);
    const uint32_t type = IBV_SRQ_INIT_ATTR_TYPE, in_pd = IBV_SRQ_INIT_ATTR_PD;
    const struct {
        const char *label;
        struct ibv_srq_init_attr_ex attr;
    } cases[] = {
        {"basic", {.comp_mask = type | in_pd, .srq_type = IBV_SRQT_BASIC, .pd = pd}},
        {"basic by default", {.comp_mask = in_pd, .pd = pd}},
        {"xrc",
         {.comp_mask = type | in_pd | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
          .srq_type = IBV_SRQT_XRC,
          .pd = pd,
          .xrcd = xrcd,
          .cq = cq}},
        {"xrc without its domain",
         {.comp_mask = type | in_pd | IBV_SRQ_INIT_ATTR_CQ, .srq_type = IBV_SRQT_XRC, .pd = pd, .cq = cq}},
        {"tag matching",
         {.comp_mask = type | in_pd | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
          .srq_type = IBV_SRQT_TM,
          .pd = pd,
          .cq = cq,
          .tm_cap = {.max_num_tags = 8, .max_ops = 2}}},
        {"tag matching without tags",
         {.comp_mask = type | in_pd | IBV_SRQ_INIT_ATTR_CQ, .srq_type = IBV_SRQT_TM, .pd = pd, .cq = cq}},
        {"unknown comp_mask", {.comp_mask = type | in_pd | 1U << 8, .srq_type = IBV_SRQT_BASIC, .pd = pd}},
        {"xrc without a PD", {.comp_mask = type, .srq_type = IBV_SRQT_XRC, .pd = pd}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ibv_srq_init_attr_ex attr = cases[i].attr;
        if (((attr.comp_mask & IBV_SRQ_INIT_ATTR_XRCD) != 0 && xrcd == NULL) ||
            ((attr.comp_mask & IBV_SRQ_INIT_ATTR_CQ) != 0 && cq == NULL))
            continue; /* the stock library looks into them */
        attr.attr = (struct ibv_srq_attr){.max_wr = 8, .max_sge = 2};
        struct ibv_srq *srq;
        call("create_srq_ex %s", cases[i].label);
        OBJECT(srq, ibv_create_srq_ex(context, &attr));
        field("max_wr", attr.attr.max_wr);
        field("max_sge", attr.attr.max_sge);
        uint32_t number = 0;
        call("get_srq_num %s", cases[i].label);
        IF(srq, ibv_get_srq_num(srq, &number));
        call("destroy_srq %s", cases[i].label);
        DESTROY(srq, ibv_destroy_srq(srq));
    }
    CLEAN(cq, ibv_destroy_cq(cq));
    CLEAN(xrcd, ibv_close_xrcd(xrcd));
}

void calls_srq(void)
{
    static const struct ibv_srq_attr attrs[] = {{.max_wr = 8, .max_sge = 2},
                                                {.max_wr = 8, .max_sge = 2, .srq_limit = 3},
                                                {.max_wr = 0},
                                                {.max_wr = 1U << 30}};
    struct ibv_srq *srq;
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        struct ibv_srq_init_attr attr = {.srq_context = page, .attr = attrs[i]};
        call("create_srq %u by %u limit %u", attrs[i].max_wr, attrs[i].max_sge, attrs[i].srq_limit);
        OBJECT(srq, ibv_create_srq(pd, &attr));
        field("max_wr", attr.attr.max_wr);
        call("destroy_srq %u by %u limit %u", attrs[i].max_wr, attrs[i].max_sge, attrs[i].srq_limit);
        DESTROY(srq, ibv_destroy_srq(srq));
    }
    extended_srq_calls();
    struct ibv_srq_init_attr init = {.attr = attrs[0]};
    srq = ibv_create_srq(pd, &init);
    if (srq == NULL)
        return;
    static const int masks[] = {0, IBV_SRQ_MAX_WR, IBV_SRQ_LIMIT, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 4};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct ibv_srq_attr attr = {.max_wr = 16, .srq_limit = 2};
        call("modify_srq mask %d", masks[i]);
        ANSWER(ibv_modify_srq(srq, &attr, masks[i]));
    }
    struct ibv_srq_attr attr;
    memset(&attr, 0x55, sizeof attr);
    call("query_srq");
    ANSWER(ibv_query_srq(srq, &attr));
    bytes("srq_attr", &attr, sizeof attr);
    struct ibv_sge sge = {.addr = 0x1000, .length = 64, .lkey = 5};
    struct ibv_recv_wr second = {.wr_id = 2},
                       first = {.wr_id = 1, .next = &second, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad = NULL;
    call("post_srq_recv");
    ANSWER(ibv_post_srq_recv(srq, &first, &bad));
    call("destroy_srq");
    DESTROY(srq, ibv_destroy_srq(srq));
}

void calls_wq(void)
{
    struct ibv_cq *cq = ibv_create_cq(context, 10, NULL, NULL, 0);
    if (cq == NULL)
        return;
    static const struct {
        uint32_t comp_mask, flags;
        int type;
    } cases[] = {{0, 0, IBV_WQT_RQ},
                 {IBV_WQ_INIT_ATTR_FLAGS, IBV_WQ_FLAGS_CVLAN_STRIPPING, IBV_WQT_RQ},
                 {IBV_WQ_INIT_ATTR_FLAGS, 0xf, IBV_WQT_RQ},
                 {IBV_WQ_INIT_ATTR_FLAGS, 1U << 20, IBV_WQT_RQ},
                 {1U << 5, 0, IBV_WQT_RQ},
                 {0, 0, 5}};
    struct ibv_wq *wq;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ibv_wq_init_attr attr = {.wq_type = (enum ibv_wq_type)cases[i].type,
                                        .max_wr = 16,
                                        .max_sge = 2,
                                        .pd = pd,
                                        .cq = cq,
                                        .comp_mask = cases[i].comp_mask,
                                        .create_flags = cases[i].flags};
        call("create_wq mask %u flags %#x type %d", cases[i].comp_mask, cases[i].flags, cases[i].type);
        OBJECT(wq, ibv_create_wq(context, &attr));
        if (wq != NULL)
            field("state", wq->state);
        call("destroy_wq mask %u flags %#x type %d", cases[i].comp_mask, cases[i].flags, cases[i].type);
        DESTROY(wq, ibv_destroy_wq(wq));
    }
    struct ibv_wq_init_attr init = {.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 2, .pd = pd, .cq = cq};
    wq = ibv_create_wq(context, &init);
    if (wq != NULL) {
        struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
        call("modify_wq to ready");
        ANSWER(ibv_modify_wq(wq, &attr));
        field("state", wq->state);
        attr =
            (struct ibv_wq_attr){.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS,
                                 .wq_state = IBV_WQS_ERR,
                                 .curr_wq_state = IBV_WQS_RDY,
                                 .flags = IBV_WQ_FLAGS_CVLAN_STRIPPING,
                                 .flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING};
        call("modify_wq all");
        ANSWER(ibv_modify_wq(wq, &attr));
        attr.attr_mask = 8;
        call("modify_wq unknown");
        ANSWER(ibv_modify_wq(wq, &attr));

        struct ibv_wq *entries[4] = {wq, wq, wq, wq};
        struct ibv_rwq_ind_table *table;
        for (unsigned log = 0; log <= 2; log++) {
            struct ibv_rwq_ind_table_init_attr table_attr = {.log_ind_tbl_size = log, .ind_tbl = entries};
            call("create_rwq_ind_table 2^%u", log);
            OBJECT(table, ibv_create_rwq_ind_table(context, &table_attr));
            call("destroy_wq in a table of 2^%u", log);
            DESTROY_IN_USE(table, wq, ibv_destroy_wq(wq));
            call("destroy_rwq_ind_table 2^%u", log);
            DESTROY(table, ibv_destroy_rwq_ind_table(table));
        }
        struct ibv_rwq_ind_table_init_attr wrong = {
            .log_ind_tbl_size = 1, .ind_tbl = entries, .comp_mask = 1};
        call("create_rwq_ind_table unknown comp_mask");
        OBJECT(table, ibv_create_rwq_ind_table(context, &wrong));
        call("destroy_cq of a work queue");
        DESTROY_IN_USE(wq, cq, ibv_destroy_cq(cq));
        call("destroy_wq");
        DESTROY(wq, ibv_destroy_wq(wq));
    }
    CLEAN(cq, ibv_destroy_cq(cq));
}

void calls_xrcd(void)
{
    static const struct {
        uint32_t comp_mask;
        int with_file, oflags;
    } cases[] = {{3, 0, O_CREAT}, {3, 1, O_CREAT}, {3, 1, O_CREAT | O_EXCL}, {3, 1, 0}, {3, 0, 0},
                 {1, 0, O_CREAT}, {0, 0, 0},       {7, 0, O_CREAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int file = cases[i].with_file ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
        struct ibv_xrcd_init_attr attr = {
            .comp_mask = cases[i].comp_mask, .fd = file, .oflags = cases[i].oflags};
        struct ibv_xrcd *xrcd;
        call("open_xrcd mask %u file %d flags %#x", cases[i].comp_mask, cases[i].with_file,
             (unsigned)cases[i].oflags);
        OBJECT(xrcd, ibv_open_xrcd(context, &attr));
        call("close_xrcd mask %u file %d flags %#x", cases[i].comp_mask, cases[i].with_file,
             (unsigned)cases[i].oflags);
        DESTROY(xrcd, ibv_close_xrcd(xrcd));
        if (file >= 0)
            close(file);
    }
}
