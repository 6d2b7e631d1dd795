/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls verbs with ordinary, odd and wrong arguments and prints what each answers: a line per call, with the
 * result, errno and the outputs that do not vary from run to run. Two libraries that print the same answer alike.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct ibv_context *context;
static char page[4096] __attribute__((aligned(4096)));

static const char *error_name(int error)
{
    const char *name = strerrorname_np(error < 0 ? -error : error);
    return name != NULL ? name : "?";
}

/* Verbs that return 0, an errno value, or -1 with errno: all three are worth seeing. */
#define ANSWER(label, call)                                               \
    do {                                                                  \
        errno = 0;                                                        \
        long answer_ = (long)(call);                                      \
        int errno_ = errno;                                               \
        printf("%s: %ld errno %s\n", label, answer_, error_name(errno_)); \
    } while (0)

/* Verbs that return an object: whether they did, and errno where they did not. */
#define OBJECT(label, variable, call)                                              \
    do {                                                                           \
        errno = 0;                                                                 \
        (variable) = (call);                                                       \
        int errno_ = errno;                                                        \
        printf("%s: %s errno %s\n", label, (variable) != NULL ? "object" : "NULL", \
               (variable) != NULL ? "-" : error_name(errno_));                     \
    } while (0)

static void print_bytes(const char *label, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    printf("%s:", label);
    for (size_t i = 0; i < size; i++)
        printf(" %02x", at[i]);
    printf("\n");
}

static void ask_device(void)
{
    struct ibv_device_attr attr;
    struct ibv_device_attr_ex attr_ex;
    struct ibv_query_device_ex_input input = {0};
    memset(&attr, 0, sizeof attr);
    ANSWER("query_device", ibv_query_device(context, &attr));
    print_bytes("device_attr", &attr, sizeof attr);
    memset(&attr_ex, 0xaa, sizeof attr_ex);
    ANSWER("query_device_ex", ibv_query_device_ex(context, NULL, &attr_ex));
    print_bytes("device_attr_ex caps", &attr_ex.odp_caps, 24);
    ANSWER("query_device_ex input", ibv_query_device_ex(context, &input, &attr_ex));
    input.comp_mask = 1;
    ANSWER("query_device_ex comp_mask", ibv_query_device_ex(context, &input, &attr_ex));
    struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
    ANSWER("query_rt_values_ex", ibv_query_rt_values_ex(context, &values));
}

static void ask_port(void)
{
    struct ibv_port_attr port;
    memset(&port, 0, sizeof port);
    ANSWER("query_port 1", ibv_query_port(context, 1, &port));
    print_bytes("port_attr", &port, 48);
    ANSWER("query_port 0", ibv_query_port(context, 0, &port));
    ANSWER("query_port 2", ibv_query_port(context, 2, &port));
    ANSWER("query_port 255", ibv_query_port(context, 255, &port));

    static const int indexes[] = {0, 1, 2, 3, 100, 1023, 1024, 5000, -1};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        char label[64];
        union ibv_gid gid;
        struct ibv_gid_entry entry;
        memset(&gid, 0x55, sizeof gid);
        snprintf(label, sizeof label, "query_gid %d", indexes[i]);
        ANSWER(label, ibv_query_gid(context, 1, indexes[i], &gid));
        print_bytes("gid", &gid, sizeof gid);
        memset(&entry, 0x55, sizeof entry);
        snprintf(label, sizeof label, "query_gid_ex %d", indexes[i]);
        ANSWER(label, ibv_query_gid_ex(context, 1, (uint32_t)indexes[i], &entry, 0));
        print_bytes("entry", &entry, sizeof entry);
    }
    union ibv_gid gid;
    struct ibv_gid_entry entry;
    ANSWER("query_gid port 0", ibv_query_gid(context, 0, 0, &gid));
    ANSWER("query_gid port 2", ibv_query_gid(context, 2, 0, &gid));
    ANSWER("query_gid_ex port 0", ibv_query_gid_ex(context, 0, 0, &entry, 0));
    ANSWER("query_gid_ex port 9", ibv_query_gid_ex(context, 9, 0, &entry, 0));
    ANSWER("query_gid_ex flags", ibv_query_gid_ex(context, 1, 0, &entry, 1));
    struct ibv_gid_entry table[8];
    memset(table, 0x55, sizeof table);
    ANSWER("query_gid_table 8", ibv_query_gid_table(context, table, 8, 0));
    print_bytes("table", table, sizeof table);
    ANSWER("query_gid_table 1", ibv_query_gid_table(context, table, 1, 0));
    ANSWER("query_gid_table 0", ibv_query_gid_table(context, table, 0, 0));
    ANSWER("query_gid_table flags", ibv_query_gid_table(context, table, 8, 4));

    __be16 pkey = 0;
    ANSWER("query_pkey 0", ibv_query_pkey(context, 1, 0, &pkey));
    printf("pkey %04x\n", pkey);
    ANSWER("query_pkey 1", ibv_query_pkey(context, 1, 1, &pkey));
    ANSWER("query_pkey 9999", ibv_query_pkey(context, 1, 9999, &pkey));
    ANSWER("query_pkey -1", ibv_query_pkey(context, 1, -1, &pkey));
    ANSWER("query_pkey port 3", ibv_query_pkey(context, 3, 0, &pkey));
    ANSWER("get_pkey_index ffff", ibv_get_pkey_index(context, 1, 0xffff));
    ANSWER("get_pkey_index 1234", ibv_get_pkey_index(context, 1, 0x1234));
}

static void try_memory(struct ibv_pd *pd)
{
    struct ibv_mr *mr;
    char *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *read_only = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static const int accesses[] = {
        0,
        IBV_ACCESS_LOCAL_WRITE,
        IBV_ACCESS_REMOTE_READ,
        IBV_ACCESS_REMOTE_WRITE,
        IBV_ACCESS_REMOTE_ATOMIC,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING,
        1 << 15,
        1 << 25,
        1 << 30};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        char label[64];
        volatile int access = accesses[i]; /* so that no macro takes it for a constant */
        snprintf(label, sizeof label, "reg_mr access %#x", (unsigned)accesses[i]);
        OBJECT(label, mr, ibv_reg_mr(pd, page, sizeof page, access));
        if (mr != NULL) {
            printf("mr length %zu addr %d pd %d context %d\n", mr->length, mr->addr == page, mr->pd == pd,
                   mr->context == context);
            ANSWER("dereg_mr", ibv_dereg_mr(mr));
        }
    }
    OBJECT("reg_mr length 0", mr, ibv_reg_mr(pd, page, 0, IBV_ACCESS_LOCAL_WRITE));
    if (mr != NULL)
        ANSWER("dereg_mr", ibv_dereg_mr(mr));
    OBJECT("reg_mr NULL", mr, ibv_reg_mr(pd, NULL, 4096, IBV_ACCESS_LOCAL_WRITE));
    OBJECT("reg_mr unmapped", mr, ibv_reg_mr(pd, (void *)(uintptr_t)4096, 4096, IBV_ACCESS_LOCAL_WRITE));
    OBJECT("reg_mr PROT_NONE", mr, ibv_reg_mr(pd, none, 8192, IBV_ACCESS_LOCAL_WRITE));
    OBJECT("reg_mr read-only write", mr, ibv_reg_mr(pd, read_only, 8192, IBV_ACCESS_LOCAL_WRITE));
    OBJECT("reg_mr read-only", mr, ibv_reg_mr(pd, read_only, 8192, 0));
    if (mr != NULL)
        ANSWER("dereg_mr", ibv_dereg_mr(mr));
    OBJECT("reg_mr wraps", mr, ibv_reg_mr(pd, page, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE));
    OBJECT("reg_mr_iova", mr, ibv_reg_mr_iova(pd, page, sizeof page, 0x10000, IBV_ACCESS_LOCAL_WRITE));
    if (mr != NULL) {
        int flags[] = {
            0, IBV_REREG_MR_CHANGE_TRANSLATION, IBV_REREG_MR_CHANGE_PD, IBV_REREG_MR_CHANGE_ACCESS, 8, 7};
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
            char label[64];
            snprintf(label, sizeof label, "rereg_mr flags %d access 0", flags[i]);
            ANSWER(label, ibv_rereg_mr(mr, flags[i], pd, page, sizeof page, 0));
            snprintf(label, sizeof label, "rereg_mr flags %d access 1", flags[i]);
            ANSWER(label, ibv_rereg_mr(mr, flags[i], pd, page, sizeof page, IBV_ACCESS_LOCAL_WRITE));
        }
        ANSWER("rereg_mr addr NULL", ibv_rereg_mr(mr, 1, pd, NULL, 4096, 0));
        ANSWER("rereg_mr length 0", ibv_rereg_mr(mr, 1, pd, page, 0, 0));
        ANSWER("dereg_mr", ibv_dereg_mr(mr));
    }
    OBJECT("alloc_null_mr", mr, ibv_alloc_null_mr(pd));
    OBJECT("reg_dmabuf_mr", mr, ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE));
    OBJECT("import_mr", mr, ibv_import_mr(pd, 12345));
    struct ibv_sge sge = {.addr = (uintptr_t)page, .length = 64};
    ANSWER("advise_mr", ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
    struct ibv_alloc_dm_attr dm_attr = {.length = 64};
    struct ibv_dm *dm;
    OBJECT("alloc_dm", dm, ibv_alloc_dm(context, &dm_attr));
    static const int types[] = {0, IBV_MW_TYPE_1, IBV_MW_TYPE_2, 3, 99};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct ibv_mw *mw;
        char label[64];
        snprintf(label, sizeof label, "alloc_mw type %d", types[i]);
        OBJECT(label, mw, ibv_alloc_mw(pd, (enum ibv_mw_type)types[i]));
        if (mw != NULL) {
            printf("mw type %d\n", (int)mw->type);
            ANSWER("dealloc_mw", ibv_dealloc_mw(mw));
        }
    }
    munmap(none, 8192);
    munmap(read_only, 8192);
}

static void try_cq(void)
{
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    OBJECT("create_comp_channel", channel, ibv_create_comp_channel(context));
    static const int sizes[] = {-1, 0, 1, 2, 3, 100, 32767, 32768, 1000000, 2147483647};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char label[64];
        snprintf(label, sizeof label, "create_cq %d", sizes[i]);
        OBJECT(label, cq, ibv_create_cq(context, sizes[i], page, channel, 0));
        if (cq == NULL)
            continue;
        printf("cqe %d context %d channel %d cq_context %d\n", cq->cqe, cq->context == context,
               cq->channel == channel, cq->cq_context == page);
        struct ibv_wc wc;
        ANSWER("poll_cq empty", ibv_poll_cq(cq, 1, &wc));
        ANSWER("poll_cq 0", ibv_poll_cq(cq, 0, &wc));
        ANSWER("req_notify_cq 0", ibv_req_notify_cq(cq, 0));
        ANSWER("req_notify_cq 1", ibv_req_notify_cq(cq, 1));
        ANSWER("destroy_comp_channel busy", ibv_destroy_comp_channel(channel));
        ANSWER("resize_cq 0", ibv_resize_cq(cq, 0));
        ANSWER("resize_cq 500", ibv_resize_cq(cq, 500));
        printf("cqe %d\n", cq->cqe);
        ANSWER("resize_cq large", ibv_resize_cq(cq, 100000000));
        printf("cqe %d\n", cq->cqe);
        struct ibv_modify_cq_attr moderation = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {1, 1}};
        ANSWER("modify_cq", ibv_modify_cq(cq, &moderation));
        ANSWER("destroy_cq", ibv_destroy_cq(cq));
    }
    OBJECT("create_cq vector 1", cq, ibv_create_cq(context, 1, NULL, NULL, 1));
    if (cq != NULL)
        ANSWER("destroy_cq", ibv_destroy_cq(cq));
    OBJECT("create_cq vector 99", cq, ibv_create_cq(context, 1, NULL, NULL, 99));
    OBJECT("create_cq vector -1", cq, ibv_create_cq(context, 1, NULL, NULL, -1));
    ANSWER("fcntl O_NONBLOCK", fcntl(channel->fd, F_SETFL, O_NONBLOCK));
    struct ibv_cq *event_cq = NULL;
    void *event_context = NULL;
    ANSWER("get_cq_event none", ibv_get_cq_event(channel, &event_cq, &event_context));
    ANSWER("destroy_comp_channel", ibv_destroy_comp_channel(channel));
}

static void print_cap(const char *label, const struct ibv_qp_cap *cap)
{
    printf("%s: %u %u %u %u %u\n", label, cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge,
           cap->max_recv_sge, cap->max_inline_data);
}

static void modify(struct ibv_qp *qp, const char *label, struct ibv_qp_attr attr, int mask)
{
    ANSWER(label, ibv_modify_qp(qp, &attr, mask));
    printf("state %d\n", (int)qp->state);
}

static void walk_states(struct ibv_qp *qp, enum ibv_qp_type type)
{
    struct ibv_qp_attr got;
    struct ibv_qp_init_attr init;
    modify(qp, "RESET to RTS", (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS}, IBV_QP_STATE);
    modify(qp, "RESET to INIT bare", (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT}, IBV_QP_STATE);
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    struct ibv_qp_attr to_init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x1234};
    int rc = type == IBV_QPT_RC;
    int connected = rc || type == IBV_QPT_UC;
    mask |= connected ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY;
    struct ibv_qp_attr wrong = to_init;
    wrong.port_num = 7;
    modify(qp, "RESET to INIT port 7", wrong, mask);
    wrong = to_init;
    wrong.pkey_index = 999;
    modify(qp, "RESET to INIT pkey 999", wrong, mask);
    modify(qp, "RESET to INIT unknown mask", to_init, mask | 1 << 28);
    modify(qp, "RESET to INIT", to_init, mask);
    struct ibv_qp_attr to_rtr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = qp->qp_num,
        .rq_psn = 5,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1, .hop_limit = 1}}};
    if (ibv_query_gid(context, 1, 1, &to_rtr.ah_attr.grh.dgid) != 0)
        return;
    mask = IBV_QP_STATE;
    if (connected)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (rc)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    if (connected) {
        wrong = to_rtr;
        wrong.ah_attr.is_global = 0;
        modify(qp, "INIT to RTR no GRH", wrong, mask);
        wrong = to_rtr;
        wrong.ah_attr.grh.sgid_index = 99;
        modify(qp, "INIT to RTR sgid 99", wrong, mask);
        wrong = to_rtr;
        wrong.path_mtu = (enum ibv_mtu)9;
        modify(qp, "INIT to RTR mtu 9", wrong, mask);
        modify(qp, "INIT to RTR no AV", to_rtr, mask & ~IBV_QP_AV);
    }
    modify(qp, "INIT to RTR", to_rtr, mask);
    struct ibv_qp_attr to_rts = {.qp_state = IBV_QPS_RTS,
                                 .sq_psn = 6,
                                 .timeout = 14,
                                 .retry_cnt = 7,
                                 .rnr_retry = 7,
                                 .max_rd_atomic = 1};
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (rc)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    modify(qp, "RTR to RTS", to_rts, mask);
    memset(&got, 0, sizeof got);
    memset(&init, 0, sizeof init);
    ANSWER("query_qp", ibv_query_qp(qp, &got, IBV_QP_STATE | IBV_QP_AV | IBV_QP_CAP, &init));
    printf(
        "query: state %d cur %d mtu %d mig %d qkey %x rq %u sq %u access %x pkey %u alt %u draining %d rd "
        "%u/%u "
        "rnr %u port %u timeout %u retry %u/%u\n",
        (int)got.qp_state, (int)got.cur_qp_state, (int)got.path_mtu, (int)got.path_mig_state, got.qkey,
        got.rq_psn, got.sq_psn, got.qp_access_flags, got.pkey_index, got.alt_pkey_index, got.sq_draining,
        got.max_rd_atomic, got.max_dest_rd_atomic, got.min_rnr_timer, got.port_num, got.timeout,
        got.retry_cnt, got.rnr_retry);
    print_bytes("query ah", &got.ah_attr, sizeof got.ah_attr);
    print_cap("query cap", &got.cap);
    print_cap("query init cap", &init.cap);
    printf("query init: type %d sig_all %d context %d\n", (int)init.qp_type, init.sq_sig_all,
           init.qp_context == page);
    modify(qp, "RTS to SQD", (struct ibv_qp_attr){.qp_state = IBV_QPS_SQD}, IBV_QP_STATE);
    modify(qp, "SQD to RTS", (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS}, IBV_QP_STATE);
    modify(qp, "to ERR", (struct ibv_qp_attr){.qp_state = IBV_QPS_ERR}, IBV_QP_STATE);
    modify(qp, "ERR to RTS", (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS}, IBV_QP_STATE);
    modify(qp, "to RESET", (struct ibv_qp_attr){.qp_state = IBV_QPS_RESET}, IBV_QP_STATE);
}

static void try_qp(struct ibv_pd *pd)
{
    struct ibv_cq *cq = ibv_create_cq(context, 100, NULL, NULL, 0);
    struct ibv_qp *qp;
    static const int types[] = {0,
                                IBV_QPT_RC,
                                IBV_QPT_UC,
                                IBV_QPT_UD,
                                IBV_QPT_RAW_PACKET,
                                IBV_QPT_XRC_SEND,
                                IBV_QPT_XRC_RECV,
                                IBV_QPT_DRIVER,
                                77};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char label[64];
        struct ibv_qp_init_attr init = {.qp_context = page,
                                        .send_cq = cq,
                                        .recv_cq = cq,
                                        .cap = {.max_send_wr = 10,
                                                .max_recv_wr = 10,
                                                .max_send_sge = 1,
                                                .max_recv_sge = 1,
                                                .max_inline_data = 64},
                                        .qp_type = (enum ibv_qp_type)types[i]};
        snprintf(label, sizeof label, "create_qp type %d", types[i]);
        OBJECT(label, qp, ibv_create_qp(pd, &init));
        if (qp == NULL)
            continue;
        print_cap("cap", &init.cap);
        printf("qp context %d pd %d cqs %d %d srq %d state %d type %d qp_context %d ex %d\n",
               qp->context == context, qp->pd == pd, qp->send_cq == cq, qp->recv_cq == cq, qp->srq != NULL,
               (int)qp->state, (int)qp->qp_type, qp->qp_context == page, ibv_qp_to_qp_ex(qp) != NULL);
        walk_states(qp, init.qp_type);
        struct ibv_ece ece = {0};
        ANSWER("query_ece", ibv_query_ece(qp, &ece));
        ANSWER("set_ece", ibv_set_ece(qp, &ece));
        ANSWER("query_qp_data_in_order", ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0));
        struct ibv_qp_rate_limit_attr rate = {.rate_limit = 1000};
        ANSWER("modify_qp_rate_limit", ibv_modify_qp_rate_limit(qp, &rate));
        union ibv_gid group = {.raw = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xe0, 1, 1, 1}};
        ANSWER("attach_mcast", ibv_attach_mcast(qp, &group, 0));
        ANSWER("detach_mcast", ibv_detach_mcast(qp, &group, 0));
        ANSWER("detach_mcast again", ibv_detach_mcast(qp, &group, 0));
        ANSWER("dealloc_pd busy", ibv_dealloc_pd(pd));
        ANSWER("destroy_cq busy", ibv_destroy_cq(cq));
        ANSWER("destroy_qp", ibv_destroy_qp(qp));
    }
    static const struct ibv_qp_cap caps[] = {
        {.max_send_wr = 0, .max_recv_wr = 0, .max_send_sge = 0, .max_recv_sge = 0},
        {.max_send_wr = 100000000, .max_recv_wr = 1},
        {.max_send_wr = 1, .max_recv_wr = 100000000},
        {.max_send_wr = 1, .max_send_sge = 1000},
        {.max_recv_wr = 1, .max_recv_sge = 1000},
        {.max_send_wr = 1, .max_inline_data = 1000000},
        {.max_send_wr = 3, .max_recv_wr = 5, .max_send_sge = 2, .max_recv_sge = 7, .max_inline_data = 100}};
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .cap = caps[i], .qp_type = IBV_QPT_RC};
        char label[64];
        snprintf(label, sizeof label, "create_qp cap %zu", i);
        OBJECT(label, qp, ibv_create_qp(pd, &init));
        print_cap("cap", &init.cap);
        if (qp != NULL)
            ANSWER("destroy_qp", ibv_destroy_qp(qp));
    }
    struct ibv_qp_init_attr_ex ex = {.send_cq = cq,
                                     .recv_cq = cq,
                                     .cap = caps[6],
                                     .qp_type = IBV_QPT_RC,
                                     .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                     .pd = pd};
    static const uint64_t operations[] = {0, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
                                          IBV_QP_EX_WITH_TSO, 1ULL << 40};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        char label[64];
        snprintf(label, sizeof label, "create_qp_ex ops %llx", (unsigned long long)operations[i]);
        ex.send_ops_flags = operations[i];
        ex.cap = caps[6];
        OBJECT(label, qp, ibv_create_qp_ex(context, &ex));
        if (qp != NULL) {
            printf("ex %d\n", ibv_qp_to_qp_ex(qp) != NULL);
            ANSWER("destroy_qp", ibv_destroy_qp(qp));
        }
    }
    ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    static const uint32_t create_flags[] = {IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, IBV_QP_CREATE_SCATTER_FCS,
                                            IBV_QP_CREATE_SOURCE_QPN, 1U << 31};
    for (size_t i = 0; i < sizeof create_flags / sizeof *create_flags; i++) {
        char label[64];
        snprintf(label, sizeof label, "create_qp_ex flags %x", create_flags[i]);
        ex.create_flags = create_flags[i];
        ex.cap = caps[6];
        OBJECT(label, qp, ibv_create_qp_ex(context, &ex));
        if (qp != NULL)
            ANSWER("destroy_qp", ibv_destroy_qp(qp));
    }
    ex.comp_mask = 0;
    OBJECT("create_qp_ex no PD", qp, ibv_create_qp_ex(context, &ex));
    ANSWER("destroy_cq", ibv_destroy_cq(cq));
}

static void try_srq(struct ibv_pd *pd)
{
    struct ibv_srq *srq;
    static const struct ibv_srq_attr sizes[] = {{0, 0, 0},     {1, 1, 0},         {100, 4, 50},
                                                {100, 1, 200}, {100000000, 1, 0}, {10, 1000, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char label[64];
        struct ibv_srq_init_attr init = {.srq_context = page, .attr = sizes[i]};
        snprintf(label, sizeof label, "create_srq %zu", i);
        OBJECT(label, srq, ibv_create_srq(pd, &init));
        printf("attr %u %u %u\n", init.attr.max_wr, init.attr.max_sge, init.attr.srq_limit);
        if (srq == NULL)
            continue;
        printf("srq context %d pd %d srq_context %d\n", srq->context == context, srq->pd == pd,
               srq->srq_context == page);
        struct ibv_srq_attr attr = {0};
        uint32_t number = 0;
        ANSWER("query_srq", ibv_query_srq(srq, &attr));
        printf("attr %u %u %u\n", attr.max_wr, attr.max_sge, attr.srq_limit);
        ANSWER("modify_srq nothing", ibv_modify_srq(srq, &attr, 0));
        attr.srq_limit = 1000000;
        ANSWER("modify_srq limit large", ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
        attr.srq_limit = 1;
        ANSWER("modify_srq limit 1", ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
        attr.max_wr = 300;
        ANSWER("modify_srq max_wr", ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
        attr.max_wr = 0;
        ANSWER("modify_srq max_wr 0", ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
        ANSWER("modify_srq unknown", ibv_modify_srq(srq, &attr, 1 << 9));
        ANSWER("query_srq", ibv_query_srq(srq, &attr));
        printf("attr %u %u %u\n", attr.max_wr, attr.max_sge, attr.srq_limit);
        ANSWER("get_srq_num", ibv_get_srq_num(srq, &number));
        ANSWER("destroy_srq", ibv_destroy_srq(srq));
    }
}

static void try_ah(struct ibv_pd *pd)
{
    struct ibv_ah *ah;
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1, .hop_limit = 64}};
    ibv_query_gid(context, 1, 1, &attr.grh.dgid);
    OBJECT("create_ah own", ah, ibv_create_ah(pd, &attr));
    if (ah != NULL)
        ANSWER("destroy_ah", ibv_destroy_ah(ah));
    struct ibv_ah_attr wrong = attr;
    wrong.is_global = 0;
    OBJECT("create_ah no GRH", ah, ibv_create_ah(pd, &wrong));
    if (ah != NULL)
        ANSWER("destroy_ah", ibv_destroy_ah(ah));
    wrong = attr;
    wrong.port_num = 9;
    OBJECT("create_ah port 9", ah, ibv_create_ah(pd, &wrong));
    wrong = attr;
    wrong.grh.sgid_index = 77;
    OBJECT("create_ah sgid 77", ah, ibv_create_ah(pd, &wrong));
    wrong = attr;
    memset(&wrong.grh.dgid, 0, sizeof wrong.grh.dgid);
    OBJECT("create_ah dgid 0", ah, ibv_create_ah(pd, &wrong));
    if (ah != NULL)
        ANSWER("destroy_ah", ibv_destroy_ah(ah));
    struct ibv_wc wc = {.wc_flags = 0};
    struct ibv_grh grh = {0};
    ANSWER("init_ah_from_wc no GRH", ibv_init_ah_from_wc(context, 1, &wc, &grh, &attr));
    wc.wc_flags = IBV_WC_GRH;
    ANSWER("init_ah_from_wc zero GRH", ibv_init_ah_from_wc(context, 1, &wc, &grh, &attr));
}

static void try_contexts(struct ibv_device *device)
{
    struct ibv_context *other;
    OBJECT("import_device -1", other, ibv_import_device(-1));
    int null = open("/dev/null", O_RDWR);
    OBJECT("import_device /dev/null", other, ibv_import_device(null));
    close(null);
    int duplicate = dup(context->cmd_fd);
    OBJECT("import_device own", other, ibv_import_device(duplicate));
    if (other != NULL)
        ibv_close_device(other);
    else
        close(duplicate);
    struct ibv_pd *pd;
    OBJECT("import_pd", pd, ibv_import_pd(context, 4711));
    struct ibv_td_init_attr td_attr = {0};
    struct ibv_td *td;
    OBJECT("alloc_td", td, ibv_alloc_td(context, &td_attr));
    if (td != NULL)
        ibv_dealloc_td(td);
    struct ibv_xrcd_init_attr xrcd_attr = {.comp_mask = 3, .fd = -1, .oflags = O_CREAT};
    struct ibv_xrcd *xrcd;
    OBJECT("open_xrcd", xrcd, ibv_open_xrcd(context, &xrcd_attr));
    struct ibv_wq_init_attr wq_attr = {0};
    struct ibv_wq *wq;
    OBJECT("create_wq", wq, ibv_create_wq(context, &wq_attr));
    struct ibv_counters_init_attr counters_attr = {0};
    struct ibv_counters *counters;
    OBJECT("create_counters", counters, ibv_create_counters(context, &counters_attr));
    struct ibv_cq_init_attr_ex cq_attr = {.cqe = 10, .wc_flags = 1ULL << 50};
    struct ibv_cq_ex *cq;
    OBJECT("create_cq_ex unknown flags", cq, ibv_create_cq_ex(context, &cq_attr));
    OBJECT("open_device again", other, ibv_open_device(device));
    if (other != NULL) {
        fcntl(other->async_fd, F_SETFL, O_NONBLOCK);
        struct ibv_async_event event;
        ANSWER("get_async_event none", ibv_get_async_event(other, &event));
        ANSWER("close_device", ibv_close_device(other));
    }
}

static void try_list(void)
{
    int count = -1;
    struct ibv_device **list;
    OBJECT("get_device_list", list, ibv_get_device_list(&count));
    printf("devices %d\n", count);
    if (list == NULL)
        return;
    for (int i = 0; i <= count; i++)
        printf("list[%d] %s\n", i, list[i] != NULL ? ibv_get_device_name(list[i]) : "NULL");
    ibv_free_device_list(list);
    OBJECT("get_device_list NULL", list, ibv_get_device_list(NULL));
    if (list != NULL)
        ibv_free_device_list(list);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    try_list();
    struct ibv_device **list = ibv_get_device_list(NULL);
    if (list == NULL || list[0] == NULL)
        return 0;
    struct ibv_device *device = list[0];
    printf("device %s %s %s %s node %d transport %d guid %016llx index %d\n", device->name, device->dev_name,
           device->dev_path, device->ibdev_path, (int)device->node_type, (int)device->transport_type,
           (unsigned long long)ibv_get_device_guid(device), ibv_get_device_index(device));
    OBJECT("open_device", context, ibv_open_device(device));
    ibv_free_device_list(list);
    if (context == NULL)
        return 0;
    printf("context device %d vectors %d\n", context->device == device, context->num_comp_vectors);
    ask_device();
    ask_port();
    struct ibv_pd *pd;
    OBJECT("alloc_pd", pd, ibv_alloc_pd(context));
    try_memory(pd);
    try_cq();
    try_qp(pd);
    try_srq(pd);
    try_ah(pd);
    try_contexts(device);
    ANSWER("dealloc_pd", ibv_dealloc_pd(pd));
    ANSWER("close_device", ibv_close_device(context));
    return 0;
}
