/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of 2006 on the fake provider: prints what each verb of IBVERBS_1.0 answers and which ops it reaches. Whatever
 * libibverbs.so.1 it runs on, it prints the same. */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "verbs_1_0.h"

/* What the next op fails with, once. */
__attribute__((visibility("default"))) int fake_failure;

/* Says more than the stock library does: it leaves parts of the objects as its allocator gave them. */
static bool strict;

static char memory[4096];

static struct old_context *context;
static struct old_pd *pd;

static void fail_next(int error)
{
    fake_failure = error;
    errno = 0;
}

/* An errno value, or -1 and errno. */
static void show(const char *verb, int result)
{
    if (result == -1)
        printf("%s: -1, errno %d\n", verb, errno);
    else
        printf("%s: %d\n", verb, result);
}

static void show_null(const char *verb, const void *object)
{
    printf("%s: %s, errno %d\n", verb, object != NULL ? "an object" : "NULL", errno);
}

/* Stock leaves handles as they were in memory. */
static void show_handle(const char *verb, uint32_t handle, uint32_t real_handle)
{
    printf("%s: an object\n", verb);
    if (strict)
        printf("handle: %d\n", handle == real_handle);
}

static void devices(void)
{
    int count = -1;
    struct old_device **list = old_get_device_list(&count);
    printf("get_device_list: %d, ends with NULL: %d\n", count, list[count] == NULL);
    printf("get_device_name: %s\n", old_get_device_name(list[0]));
    printf("get_device_guid: %016" PRIx64 "\n", be64toh(old_get_device_guid(list[0])));
    printf("real device: %s\n", list[0]->real_device->name);
    context = old_open_device(list[0]);
    printf("open_device: its device: %d, its real context's device: %d\n", context->device == list[0],
           context->real_context->device == list[0]->real_device);
    if (strict) {
        printf("cmd_fd: %d, async_fd: %d, vectors %d\n", context->cmd_fd == context->real_context->cmd_fd,
               context->async_fd == context->real_context->async_fd, context->num_comp_vectors);
        void *const *op = (void *const *)&context->ops;
        printf("ops:");
        for (size_t i = 0; i < sizeof context->ops / sizeof *op; ++i)
            if (op[i] != NULL)
                printf(" %zu", i);
        printf("\n");
    }
    /* Programs free the list once they have opened what they want. */
    old_free_device_list(list);
    list = old_get_device_list(NULL);
    printf("get_device_list again: %d\n", list != NULL);
    old_free_device_list(list);
}

static void queries(void)
{
    struct ibv_device_attr device;
    show("query_device", old_query_device(context, &device));
    printf("max_qp %d\n", device.max_qp);
    fail_next(EIO);
    show("query_device", old_query_device(context, &device));
    unsigned char port[64];
    memset(port, 0xee, sizeof port);
    show("query_port", old_query_port(context, 1, port));
    if (strict) {
        size_t written = sizeof port;
        while (written > 0 && port[written - 1] == 0xee)
            --written;
        printf("bytes of port: %zu\n", written);
    }
    fail_next(EINVAL);
    show("query_port", old_query_port(context, 2, port));
}

static void regions(void)
{
    pd = old_alloc_pd(context);
    show_handle("alloc_pd", pd->handle, pd->real_pd->handle);
    printf("its context: %d\n", pd->context == context);
    fail_next(ENOMEM);
    show_null("alloc_pd", old_alloc_pd(context));

    struct old_mr *mr = old_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    show_handle("reg_mr", mr->handle, mr->real_mr->handle);
    printf("lkey %x, rkey %x, its context: %d, its pd: %d\n", mr->lkey, mr->rkey, mr->context == context,
           mr->pd == pd);
    fail_next(EFAULT);
    show_null("reg_mr", old_reg_mr(pd, memory, 1, 0));
    fail_next(EBUSY);
    show("dereg_mr", old_dereg_mr(mr));
    show("dereg_mr", old_dereg_mr(mr));

    struct old_pd *second = old_alloc_pd(context);
    fail_next(EBUSY);
    show("dealloc_pd", old_dealloc_pd(second));
    show("dealloc_pd", old_dealloc_pd(second));
}

static struct old_cq *completion_queue(void)
{
    int user;
    struct ibv_wc wc;
    struct old_cq *cq = old_create_cq(context, 15, &user, NULL, 2);
    show_handle("create_cq", cq->handle, cq->real_cq->handle);
    printf("its context: %d, its cq_context: %d\n", cq->context == context, cq->cq_context == &user);
    if (strict)
        printf("cqe %d\n", cq->cqe);
    fail_next(ENOSPC);
    show_null("create_cq", old_create_cq(context, 0, NULL, NULL, 0));
    show("resize_cq", old_resize_cq(cq, 31));
    if (strict)
        printf("cqe %d\n", cq->cqe);
    fail_next(EOPNOTSUPP);
    show("resize_cq", old_resize_cq(cq, 63));
    if (strict)
        printf("cqe %d\n", cq->cqe);
    show("poll_cq", cq->context->ops.poll_cq(cq, 1, &wc));
    printf("wr_id %" PRIu64 "\n", wc.wr_id);
    show("poll_cq", cq->context->ops.poll_cq(cq, 0, &wc));
    show("req_notify_cq", cq->context->ops.req_notify_cq(cq, 1));
    fail_next(EIO);
    show("req_notify_cq", cq->context->ops.req_notify_cq(cq, 0));
    return cq;
}

static void completion_events(struct old_cq *cq)
{
    int ends[2];
    struct ibv_comp_channel channel = {.context = context->real_context};
    if (pipe(ends) != 0)
        exit(1);
    channel.fd = ends[0];
    struct ib_uverbs_comp_event_desc event = {.cq_handle = (uintptr_t)cq->real_cq};
    struct old_cq *got = NULL;
    void *cq_context = NULL;
    if (write(ends[1], &event, sizeof event) != sizeof event)
        exit(1);
    show("get_cq_event", old_get_cq_event(&channel, &got, &cq_context));
    printf("its cq: %d, its cq_context: %d\n", got == cq, cq_context == cq->cq_context);
    old_ack_cq_events(cq, 3);
    printf("acknowledged: %u\n", cq->real_cq->comp_events_completed);
    close(ends[1]);
    got = NULL;
    fail_next(0);
    show("get_cq_event of a closed channel", old_get_cq_event(&channel, &got, &cq_context));
    printf("its cq: %d\n", got != NULL);
    close(ends[0]);
}

static struct old_srq *shared_receive_queue(void)
{
    int user;
    struct ibv_srq_init_attr attr = {.srq_context = &user, .attr = {.max_wr = 10, .max_sge = 2}};
    struct old_srq *srq = old_create_srq(pd, &attr);
    show_handle("create_srq", srq->handle, srq->real_srq->handle);
    printf("its context: %d, its pd: %d, its srq_context: %d\n", srq->context == context, srq->pd == pd,
           srq->srq_context == &user);
    printf("attr: srq_context kept: %d, max_wr %u\n", attr.srq_context == &user, attr.attr.max_wr);
    fail_next(ENOMEM);
    show_null("create_srq", old_create_srq(pd, &attr));
    printf("attr: srq_context kept: %d, max_wr %u\n", attr.srq_context == &user, attr.attr.max_wr);
    struct ibv_srq_attr limit = {.srq_limit = 4};
    show("modify_srq", old_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
    fail_next(EINVAL);
    show("modify_srq", old_modify_srq(srq, &limit, 0x80));
    show("query_srq", old_query_srq(srq, &limit));
    printf("max_wr %u, limit %u\n", limit.max_wr, limit.srq_limit);

    struct ibv_sge sge = {.addr = 0x1000, .length = 10, .lkey = 0x33};
    struct old_recv_wr second = {.wr_id = 0xbad, .sg_list = &sge, .num_sge = 1};
    struct old_recv_wr first = {.next = &second, .wr_id = 1, .sg_list = &sge, .num_sge = 0}, *bad = NULL;
    show("post_srq_recv", srq->context->ops.post_srq_recv(srq, &first, &bad));
    printf("bad_wr is the second: %d\n", bad == &second);
    second.wr_id = 2;
    show("post_srq_recv", srq->context->ops.post_srq_recv(srq, &first, &bad));
    return srq;
}

static struct old_qp *queue_pair(struct old_cq *cq, struct old_srq *srq, enum ibv_qp_type type)
{
    int user;
    struct old_qp_init_attr attr = {
        .qp_context = &user, .send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = type, .sq_sig_all = 1};
    attr.cap = (struct ibv_qp_cap){1, 2, 3, 4, 5};
    struct old_qp *qp = old_create_qp(pd, &attr);
    show_handle("create_qp", qp->handle, qp->real_qp->handle);
    printf("number %x, type %d, its context: %d, its pd: %d, its qp_context: %d\n", qp->qp_num,
           (int)qp->qp_type, qp->context == context, qp->pd == pd, qp->qp_context == &user);
    printf("its cqs: %d %d, its srq: %d\n", qp->send_cq == cq, qp->recv_cq == cq, qp->srq == srq);
    printf("cap: %u %u %u %u %u\n", attr.cap.max_send_wr, attr.cap.max_recv_wr, attr.cap.max_send_sge,
           attr.cap.max_recv_sge, attr.cap.max_inline_data);
    fail_next(EPERM);
    show_null("create_qp", old_create_qp(pd, &attr));

    struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT};
    show("modify_qp", old_modify_qp(qp, &state, IBV_QP_STATE));
    if (strict)
        printf("state %d\n", (int)qp->state);
    state.qp_state = IBV_QPS_ERR;
    fail_next(EINVAL);
    show("modify_qp", old_modify_qp(qp, &state, IBV_QP_STATE));
    if (strict)
        printf("state %d\n", (int)qp->state);
    if (srq == NULL && !strict)
        return qp; /* the next verb ends a program on the stock library */
    struct old_qp_init_attr init;
    memset(&init, 0xee, sizeof init);
    show("query_qp", old_query_qp(qp, &state, IBV_QP_STATE | IBV_QP_QKEY, &init));
    printf(
        "state %d, qkey %x, its qp_context: %d, cqs: %d %d, srq: %d, cap %u %u %u, type "
        "%d, all %d\n",
        (int)state.qp_state, state.qkey, init.qp_context == qp->qp_context, init.send_cq == cq,
        init.recv_cq == cq, init.srq == srq, init.cap.max_send_wr, init.cap.max_recv_wr,
        init.cap.max_send_sge, (int)init.qp_type, init.sq_sig_all);
    if (strict)
        printf("state %d\n", (int)qp->state);
    return qp;
}

static void attach(struct old_qp *qp)
{
    union ibv_gid gid = {.raw = {0xff, 1}};
    show("attach_mcast", old_attach_mcast(qp, &gid, 0xc001));
    fail_next(EINVAL);
    show("attach_mcast", old_attach_mcast(qp, &gid, 0));
    show("detach_mcast", old_detach_mcast(qp, &gid, 0xc001));
}

static void post_datagrams(struct old_qp *qp)
{
    struct ibv_ah_attr attr = {.dlid = 7, .port_num = 1};
    struct old_ah *ah = old_create_ah(pd, &attr);
    show_handle("create_ah", ah->handle, ah->real_ah->handle);
    printf("its context: %d, its pd: %d\n", ah->context == context, ah->pd == pd);
    fail_next(EINVAL);
    show_null("create_ah", old_create_ah(pd, &attr));
    struct ibv_sge sges[2] = {{0x10, 1, 2}, {0x20, 3, 4}};
    struct old_send_wr wr = {.wr_id = 9,
                             .sg_list = sges,
                             .num_sge = 2,
                             .opcode = IBV_WR_SEND_WITH_IMM,
                             .send_flags = IBV_SEND_SOLICITED,
                             .imm_data = 0x99};
    struct old_send_wr *bad = NULL;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = 0x123;
    wr.wr.ud.remote_qkey = 0x456;
    show("post_send", qp->context->ops.post_send(qp, &wr, &bad));
    fail_next(EBUSY);
    show("destroy_ah", old_destroy_ah(ah));
    show("destroy_ah", old_destroy_ah(ah));
}

static void post_everything(struct old_qp *qp)
{
    struct ibv_sge sges[2] = {{0x10, 1, 2}, {0x20, 3, 4}};
    struct old_send_wr wr[7], *bad = NULL;
    memset(wr, 0, sizeof wr);
    for (int i = 0; i < 7; ++i) {
        wr[i].next = i < 6 ? &wr[i + 1] : NULL;
        wr[i].wr_id = 0x10 + (uint64_t)i;
        wr[i].sg_list = sges;
        wr[i].num_sge = i % 3;
        wr[i].opcode = (enum ibv_wr_opcode)i; /* RDMA write to fetch and add */
        wr[i].send_flags = i;
        wr[i].imm_data = 0x500 + (unsigned)i;
        wr[i].wr.atomic.remote_addr = 0x1000 + (unsigned)i;
        if (wr[i].opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            wr[i].wr.atomic.compare_add = 0x600;
            wr[i].wr.atomic.swap = 0x700;
            wr[i].wr.atomic.rkey = 0x800;
        } else {
            wr[i].wr.rdma.rkey = 0x900;
        }
    }
    show("post_send", qp->context->ops.post_send(qp, wr, &bad));
    wr[2].wr_id = 0xbad;
    show("post_send", qp->context->ops.post_send(qp, wr, &bad));
    printf("bad_wr is the third: %d\n", bad == &wr[2]);
    fail_next(EINVAL);
    bad = NULL;
    wr[2].wr_id = 0x12;
    show("post_send without a culprit", qp->context->ops.post_send(qp, &wr[4], &bad));
    if (strict)
        printf("bad_wr: %s\n", bad == NULL ? "NULL" : bad == &wr[4] ? "the first" : "another");
    bad = &wr[1];
    show("post_send of nothing", qp->context->ops.post_send(qp, NULL, &bad));
    printf("bad_wr untouched: %d\n", bad == &wr[1]);

    struct old_recv_wr second = {.wr_id = 0xbad, .sg_list = sges, .num_sge = 1};
    struct old_recv_wr first = {.next = &second, .wr_id = 1, .sg_list = sges, .num_sge = 2}, *bad_recv = NULL;
    show("post_recv", qp->context->ops.post_recv(qp, &first, &bad_recv));
    printf("bad_wr is the second: %d\n", bad_recv == &second);
}

/* Longer than what travels at once. */
static void post_a_long_list(struct old_qp *qp)
{
    struct old_recv_wr wr[40], *bad = NULL;
    memset(wr, 0, sizeof wr);
    for (unsigned i = 0; i < 40; ++i) {
        wr[i].next = i < 39 ? &wr[i + 1] : NULL;
        wr[i].wr_id = i;
    }
    show("post_recv of 40", qp->context->ops.post_recv(qp, wr, &bad));
    wr[20].wr_id = 0xbad;
    show("post_recv of 40", qp->context->ops.post_recv(qp, wr, &bad));
    printf("bad_wr is the 21st: %d\n", bad == &wr[20]);
}

static void send_event(enum ibv_event_type type, uint64_t element)
{
    struct ib_uverbs_async_event_desc kernel = {.element = element, .event_type = type};
    if (write(fake_kernel_async_events, &kernel, sizeof kernel) != sizeof kernel)
        exit(1);
}

static void async_events(struct old_cq *cq, struct old_qp *qp, struct old_srq *srq)
{
    static const enum ibv_event_type of_qp[] = {
        IBV_EVENT_QP_FATAL,   IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_COMM_EST,
        IBV_EVENT_SQ_DRAINED, IBV_EVENT_PATH_MIG,   IBV_EVENT_PATH_MIG_ERR,  IBV_EVENT_QP_LAST_WQE_REACHED};
    struct ibv_async_event event;
    for (size_t i = 0; i < sizeof of_qp / sizeof *of_qp; ++i) {
        send_event(of_qp[i], (uintptr_t)qp->real_qp);
        show("get_async_event", old_get_async_event(context, &event));
        printf("type %d, its qp: %d\n", (int)event.event_type, (void *)event.element.qp == (void *)qp);
        old_ack_async_event(&event);
    }
    send_event(IBV_EVENT_CQ_ERR, (uintptr_t)cq->real_cq);
    show("get_async_event", old_get_async_event(context, &event));
    printf("type %d, its cq: %d\n", (int)event.event_type, (void *)event.element.cq == (void *)cq);
    old_ack_async_event(&event);
    for (enum ibv_event_type type = IBV_EVENT_SRQ_ERR; type <= IBV_EVENT_SRQ_LIMIT_REACHED; ++type) {
        send_event(type, (uintptr_t)srq->real_srq);
        show("get_async_event", old_get_async_event(context, &event));
        printf("type %d, its srq: %d\n", (int)event.event_type, (void *)event.element.srq == (void *)srq);
        old_ack_async_event(&event);
    }
    send_event(IBV_EVENT_PORT_ACTIVE, 1);
    show("get_async_event", old_get_async_event(context, &event));
    printf("type %d, port %d\n", (int)event.event_type, event.element.port_num);
    old_ack_async_event(&event);
    printf("acknowledged: %u %u %u\n", qp->real_qp->events_completed, cq->real_cq->async_events_completed,
           srq->real_srq->events_completed);
    fail_next(0);
    if (fcntl(context->real_context->async_fd, F_SETFL, O_NONBLOCK) != 0)
        exit(1);
    show("get_async_event of nothing", old_get_async_event(context, &event));
}

int main(int argc, char **argv)
{
    strict = argc > 1 && strcmp(argv[1], "--strict") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    devices();
    queries();
    regions();
    struct old_cq *cq = completion_queue();
    completion_events(cq);
    struct old_srq *srq = shared_receive_queue();
    struct old_qp *connected = queue_pair(cq, srq, IBV_QPT_RC);
    struct old_qp *datagram = queue_pair(cq, NULL, IBV_QPT_UD);
    attach(datagram);
    post_datagrams(datagram);
    post_everything(connected);
    if (strict)
        post_a_long_list(connected);
    async_events(cq, connected, srq);

    fail_next(EBUSY);
    show("destroy_qp", old_destroy_qp(connected));
    show("destroy_qp", old_destroy_qp(connected));
    show("destroy_qp", old_destroy_qp(datagram));
    fail_next(EBUSY);
    show("destroy_srq", old_destroy_srq(srq));
    show("destroy_srq", old_destroy_srq(srq));
    fail_next(EBUSY);
    show("destroy_cq", old_destroy_cq(cq));
    show("destroy_cq", old_destroy_cq(cq));
    show("dealloc_pd", old_dealloc_pd(pd));
    show("close_device", old_close_device(context));
    return 0;
}
