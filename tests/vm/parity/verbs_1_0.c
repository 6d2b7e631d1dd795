/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program of 2006 on a real device: every object, data over connected and datagram queue pairs, events. Prints what it
 * finds, so that two libraries can be compared; the first thing that goes wrong ends it. With --events it waits for
 * completions instead of polling; with --old-channel it only makes a completion channel from its own kind of context.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_1_0.h"

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            printf("line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

enum { PORT = 1, GID_INDEX = 1, SIZE = 4096, QKEY = 0x11111111 };

static char memory[2 * SIZE] __attribute__((aligned(4096)));
static char *const theirs = memory + SIZE;

static struct old_context *context;
static struct old_pd *pd;
static struct old_mr *mr;
static struct ibv_comp_channel *channel;
static union ibv_gid gid;

static void open_first(void)
{
    int count;
    struct old_device **list = old_get_device_list(&count);
    CHECK(list != NULL && count == 1);
    printf("device %s\n", old_get_device_name(list[0]));
    context = old_open_device(list[0]);
    CHECK(context != NULL);
    old_free_device_list(list);
    CHECK(strcmp(old_get_device_name(context->device), "rxe0") == 0);

    struct ibv_device_attr device;
    unsigned char port[64];
    __be16 pkey;
    CHECK(old_query_device(context, &device) == 0 && old_query_port(context, PORT, port) == 0);
    CHECK(old_query_pkey(context, PORT, 0, &pkey) == 0 && old_query_gid(context, PORT, GID_INDEX, &gid) == 0);
    printf("ports %u, port's attributes %02x%02x%02x, pkey %x\n", device.phys_port_cnt, port[0], port[4],
           port[8], pkey);
    printf("query_port of port 7: %d\n", old_query_port(context, 7, port));
    errno = 0;
    printf("query_gid of entry 5000: %d", old_query_gid(context, PORT, 5000, &gid));
    printf(", errno %d\n", errno);
}

static struct old_cq *create_cq(void *cq_context)
{
    struct old_cq *cq = old_create_cq(context, 64, cq_context, channel, 0);
    CHECK(cq != NULL && cq->cq_context == cq_context);
    return cq;
}

static struct old_qp *create_qp(enum ibv_qp_type type, struct old_cq *cq, struct old_srq *srq)
{
    struct old_qp_init_attr attr = {
        .qp_context = memory, .send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = type};
    attr.cap =
        (struct ibv_qp_cap){.max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 2, .max_recv_sge = 2};
    struct old_qp *qp = old_create_qp(pd, &attr);
    CHECK(qp != NULL && attr.cap.max_send_wr >= 32);
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qkey = QKEY};
    init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    CHECK(old_modify_qp(qp, &init,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                            (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0);
    return qp;
}

static struct ibv_ah_attr to_self(void)
{
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = PORT};
    attr.grh.dgid = gid;
    attr.grh.sgid_index = GID_INDEX;
    attr.grh.hop_limit = 1;
    return attr;
}

static void connect_to(struct old_qp *qp, uint32_t qp_num)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp_num};
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr = to_self();
    CHECK(old_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    CHECK(old_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                            IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void start_datagrams(struct old_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    CHECK(old_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    CHECK(old_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
}

/* The next completion of cq, sooner or later. */
static struct ibv_wc wait_for(struct old_cq *cq)
{
    struct ibv_wc wc;
    int count;
    while ((count = cq->context->ops.poll_cq(cq, 1, &wc)) == 0)
        if (channel != NULL) {
            struct old_cq *of = NULL;
            void *cq_context = NULL;
            CHECK(cq->context->ops.req_notify_cq(cq, 0) == 0);
            if (cq->context->ops.poll_cq(cq, 1, &wc) == 1)
                break;
            CHECK(old_get_cq_event(channel, &of, &cq_context) == 0);
            CHECK(of == cq && cq_context == cq->cq_context);
            old_ack_cq_events(cq, 1);
        }
    CHECK(count >= 0);
    return wc;
}

static void show(const char *what, const struct ibv_wc *wc)
{
    printf("%s: wr %d, status %d, opcode %d, %u bytes, flags %u\n", what, (int)wc->wr_id, (int)wc->status,
           (int)wc->opcode, wc->status == 0 && (wc->opcode & IBV_WC_RECV) != 0 ? wc->byte_len : 0,
           wc->wc_flags);
}

static void post_receives(struct old_qp *qp, struct old_srq *srq, char *at, uint32_t length)
{
    struct ibv_sge sge = {(uintptr_t)at, length, mr->lkey};
    struct old_recv_wr second = {.wr_id = 102, .sg_list = &sge, .num_sge = 1};
    struct old_recv_wr first = {.next = &second, .wr_id = 101, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    if (srq != NULL)
        CHECK(srq->context->ops.post_srq_recv(srq, &first, &bad) == 0);
    else
        CHECK(qp->context->ops.post_recv(qp, &first, &bad) == 0);
}

/* Four requests in one list. */
static void connected(struct old_srq *srq)
{
    struct old_cq *send_cq = create_cq(&send_cq), *recv_cq = create_cq(memory);
    struct old_qp *sender = create_qp(IBV_QPT_RC, send_cq, NULL);
    struct old_qp *receiver = create_qp(IBV_QPT_RC, recv_cq, srq);
    connect_to(receiver, sender->qp_num);
    connect_to(sender, receiver->qp_num);
    memset(memory, 0, sizeof memory);
    strcpy(memory, "2006");
    post_receives(receiver, srq, theirs, 64);

    struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};
    struct ibv_sge old_value = {(uintptr_t)memory + 512, 8, mr->lkey};
    struct ibv_sge read_to = {(uintptr_t)memory + 1024, 8, mr->lkey};
    struct old_send_wr wr[4], *bad = NULL;
    memset(wr, 0, sizeof wr);
    for (int i = 0; i < 4; ++i) {
        wr[i].next = i < 3 ? &wr[i + 1] : NULL;
        wr[i].wr_id = (uint64_t)i;
        wr[i].sg_list = &sge;
        wr[i].num_sge = 1;
        wr[i].send_flags = IBV_SEND_SIGNALED;
    }
    wr[0].opcode = IBV_WR_SEND_WITH_IMM;
    wr[0].imm_data = 0x44332211;
    wr[1].opcode = IBV_WR_RDMA_WRITE;
    wr[1].wr.rdma.remote_addr = (uintptr_t)theirs + 128;
    wr[1].wr.rdma.rkey = mr->rkey;
    wr[2].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr[2].sg_list = &old_value;
    wr[2].wr.atomic.remote_addr = (uintptr_t)theirs + 256;
    wr[2].wr.atomic.compare_add = 7;
    wr[2].wr.atomic.rkey = mr->rkey;
    wr[3].opcode = IBV_WR_RDMA_READ;
    wr[3].sg_list = &read_to;
    wr[3].wr.rdma.remote_addr = (uintptr_t)theirs + 256;
    wr[3].wr.rdma.rkey = mr->rkey;
    theirs[256] = 35;
    CHECK(sender->context->ops.post_send(sender, wr, &bad) == 0);
    for (int i = 0; i < 4; ++i) {
        struct ibv_wc wc = wait_for(send_cq);
        show("sent", &wc);
    }
    struct ibv_wc wc = wait_for(recv_cq);
    show("received", &wc);
    printf("imm %x, data '%s' '%s', before %d, after %d, read %d\n", wc.imm_data, theirs, theirs + 128,
           memory[512], theirs[256], memory[1024]);

    struct ibv_qp_attr attr;
    struct old_qp_init_attr init;
    if (srq != NULL) {
        CHECK(old_query_qp(receiver, &attr, IBV_QP_STATE, &init) == 0);
        printf("query_qp: state %d, of its own: %d %d %d %d\n", (int)attr.qp_state, init.qp_context == memory,
               init.send_cq == recv_cq, init.recv_cq == recv_cq, init.srq == srq);
    }
    CHECK(old_destroy_qp(sender) == 0 && old_destroy_qp(receiver) == 0);
    CHECK(old_destroy_cq(send_cq) == 0 && old_destroy_cq(recv_cq) == 0);
}

static void datagrams(void)
{
    struct old_cq *cq = create_cq(NULL);
    struct old_qp *sender = create_qp(IBV_QPT_UD, cq, NULL), *receiver = create_qp(IBV_QPT_UD, cq, NULL);
    start_datagrams(sender);
    start_datagrams(receiver);
    struct ibv_ah_attr attr = to_self();
    struct old_ah *ah = old_create_ah(pd, &attr);
    CHECK(ah != NULL);
    memset(memory, 0, sizeof memory);
    strcpy(memory, "datagram");
    post_receives(receiver, NULL, theirs, 256);
    struct ibv_sge sge = {(uintptr_t)memory, 16, mr->lkey};
    struct old_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct old_send_wr *bad = NULL;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = receiver->qp_num;
    wr.wr.ud.remote_qkey = QKEY;
    CHECK(sender->context->ops.post_send(sender, &wr, &bad) == 0);
    unsigned seen = 0;
    for (int i = 0; i < 2; ++i) {
        struct ibv_wc wc = wait_for(cq);
        CHECK(wc.status == IBV_WC_SUCCESS);
        seen |= (unsigned)wc.wr_id;
    }
    printf("datagram: wrs %x, '%s'\n", seen, theirs + 40);

    union ibv_gid group = {.raw = {0xff, 0x0e, [15] = 1}};
    printf("attach_mcast: %d\n", old_attach_mcast(receiver, &group, 0xc001));
    printf("detach_mcast: %d\n", old_detach_mcast(receiver, &group, 0xc001));
    CHECK(old_destroy_ah(ah) == 0);
    CHECK(old_destroy_qp(sender) == 0 && old_destroy_qp(receiver) == 0 && old_destroy_cq(cq) == 0);
}

/* A queue pair of an SRQ reports its last request when it fails. */
static void async_event(struct old_srq *srq)
{
    struct old_cq *cq = create_cq(NULL);
    struct old_qp *qp = create_qp(IBV_QPT_RC, cq, srq);
    struct ibv_srq_attr limit = {.srq_limit = 3};
    printf("modify_srq: %d", old_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
    printf(", query_srq: %d, limit %u\n", old_query_srq(srq, &limit), limit.srq_limit);
    connect_to(qp, qp->qp_num);
    post_receives(NULL, srq, theirs, 64);
    struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};
    struct old_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad = NULL;
    CHECK(qp->context->ops.post_send(qp, &wr, &bad) == 0);
    struct ibv_async_event event;
    CHECK(old_get_async_event(context, &event) == 0);
    printf("event %d, of the SRQ: %d\n", (int)event.event_type, (void *)event.element.srq == (void *)srq);
    old_ack_async_event(&event);
    CHECK(old_destroy_qp(qp) == 0 && old_destroy_cq(cq) == 0);
}

static int old_channel(void)
{
    channel = ibv_create_comp_channel((struct ibv_context *)context);
    CHECK(channel != NULL);
    struct old_cq *cq = create_cq(NULL);
    int in_use = ibv_destroy_comp_channel(channel);
    CHECK(old_destroy_cq(cq) == 0);
    printf("channel: in use %d, no longer %d\n", in_use, ibv_destroy_comp_channel(channel));
    return old_close_device(context);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_first();
    if (argc > 1 && strcmp(argv[1], "--old-channel") == 0)
        return old_channel();
    pd = old_alloc_pd(context);
    CHECK(pd != NULL);
    mr = old_reg_mr(
        pd, memory, sizeof memory,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    CHECK(mr != NULL);
    errno = 0;
    printf("reg_mr of nothing mapped: %d", old_reg_mr(pd, (void *)4096, 4096, 1) != NULL);
    printf(", errno %d\n", errno);
    if (argc > 1 && strcmp(argv[1], "--events") == 0) {
        channel = ibv_create_comp_channel(context->real_context);
        CHECK(channel != NULL);
    }
    struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};
    struct old_srq *srq = old_create_srq(pd, &attr);
    CHECK(srq != NULL);

    connected(NULL);
    connected(srq);
    datagrams();
    async_event(srq);

    struct old_cq *cq = create_cq(NULL);
    printf("resize_cq: %d\n", old_resize_cq(cq, 128));
    CHECK(old_destroy_cq(cq) == 0);
    printf("dealloc_pd in use: %d\n", old_dealloc_pd(pd));
    CHECK(old_destroy_srq(srq) == 0 && old_dereg_mr(mr) == 0 && old_dealloc_pd(pd) == 0);
    if (channel != NULL)
        CHECK(ibv_destroy_comp_channel(channel) == 0);
    CHECK(old_close_device(context) == 0);
    printf("closed\n");
    return 0;
}
