/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#include <errno.h>
#include <poll.h>

#include "conformance.h"

static struct ibv_srq *create_srq(uint32_t max_wr, uint32_t max_sge)
{
    struct ibv_srq_init_attr attr = {.srq_context = &env, .attr = {.max_wr = max_wr, .max_sge = max_sge}};
    return ibv_create_srq(env.pd, &attr);
}

static int post(struct ibv_srq *srq, uint64_t wr_id, void *memory, uint32_t length)
{
    struct ibv_sge sge = sge_of(memory, length);
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    return ibv_post_srq_recv(srq, &wr, &bad);
}

/* Two connections take turns in taking from one queue. */
static void shared(void)
{
    struct ibv_srq *srq = create_srq(31, 2);
    struct pair pair[2];
    struct ibv_wc wc;
    CHECK_OFFERED(srq, ibv_create_srq);
    CHECK(srq->srq_context == &env && srq->pd == env.pd);
    OPEN(&pair[0], .srq = srq);
    OPEN(&pair[1], .srq = srq);
    for (unsigned i = 0; i < 10; ++i)
        CHECK_EQ(post(srq, i, at(1, i * 100), 100), 0);
    for (unsigned i = 0; i < 10; ++i) {
        struct pair *from = &pair[i % 2];
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        fill(at(0, 0), 50, i);
        CHECK_EQ(post_send(from->qp[0], &wr, at(0, 0), 50), 0);
        WAIT_OK(from->cq[1], &wc);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.qp_num, from->qp[1]->qp_num);
        CHECK(filled(at(1, i * 100), 50, i));
        WAIT_OK(from->cq[0], &wc);
    }
    struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
    CHECK_EQ(ibv_post_recv(pair[0].qp[1], &wr, &bad), EINVAL); /* its receive queue is the SRQ */
    CHECK(ibv_destroy_srq(srq) != 0);                          /* in use */
    pair_close(&pair[0]);
    pair_close(&pair[1]);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
}

static void full(void)
{
    struct ibv_srq *srq = create_srq(7, 2);
    struct ibv_srq_attr attr;
    CHECK_OFFERED(srq, ibv_create_srq);
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    CHECK(attr.max_wr >= 7 && attr.max_sge >= 2);
    CHECK_EQ(attr.srq_limit, 0);
    struct ibv_sge sge[3] = {sge_of(at(1, 0), 1), sge_of(at(1, 0), 1), sge_of(at(1, 0), 1)};
    struct ibv_recv_wr wrong = {.sg_list = sge, .num_sge = (int)attr.max_sge + 1}, *bad = NULL;
    struct ibv_recv_wr wr = {.next = &wrong, .sg_list = sge, .num_sge = 1};
    CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);
    CHECK(bad == &wrong);
    wr.next = NULL;
    for (unsigned i = 1; i < attr.max_wr; ++i) /* the first of the list was posted */
        CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
    CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
    CHECK(bad == &wr);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
}

/* Requests survive a resize, and there is room for more behind them. */
static void resize(void)
{
    struct ibv_srq *srq = create_srq(7, 1);
    struct pair pair;
    struct ibv_wc wc;
    CHECK_OFFERED(srq, ibv_create_srq);
    OPEN(&pair, .srq = srq);
    for (unsigned i = 0; i < 5; ++i)
        CHECK_EQ(post(srq, i, at(1, i * 100), 100), 0);
    struct ibv_srq_attr attr = {.max_wr = 60};
    CHECK_OFFERS(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    CHECK(attr.max_wr >= 60);
    for (unsigned i = 5; i < 60; ++i)
        CHECK_EQ(post(srq, i, at(1, i * 100), 100), 0);
    attr.max_wr = 2;
    CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL); /* 60 would not fit */
    for (unsigned i = 0; i < 60; ++i) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        fill(at(0, 0), 50, i);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 50), 0);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(wc.wr_id, i);
        CHECK(filled(at(1, i * 100), 50, i));
        WAIT_OK(pair.cq[0], &wc);
    }
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
}

/* The limit is armed once and fires when fewer requests are left (IBTA 10.2.9.1). */
static void limit(void)
{
    struct ibv_srq *srq = create_srq(15, 1);
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_async_event event;
    CHECK_OFFERED(srq, ibv_create_srq);
    OPEN(&pair, .srq = srq);
    for (unsigned i = 0; i < 6; ++i)
        CHECK_EQ(post(srq, i, at(1, i * 100), 100), 0);
    struct ibv_srq_attr attr = {.srq_limit = 4};
    CHECK_OFFERS(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    CHECK_EQ(attr.srq_limit, 4);
    struct pollfd ready = {.fd = env.context->async_fd, .events = POLLIN};
    for (unsigned i = 0; i < 3; ++i) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        CHECK_EQ(poll(&ready, 1, 0), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 50), 0);
        WAIT_OK(pair.cq[1], &wc);
        WAIT_OK(pair.cq[0], &wc);
    }
    CHECK_EQ(poll(&ready, 1, 5000), 1);
    CHECK_EQ(ibv_get_async_event(env.context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event.element.srq == srq);
    ibv_ack_async_event(&event);
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    CHECK_EQ(attr.srq_limit, 0);
    attr.srq_limit = attr.max_wr + 1000000;
    CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
}

static void refused(void)
{
    errno = 0;
    CHECK(create_srq(0, 1) == NULL);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    CHECK(create_srq((uint32_t)env.device.max_srq_wr + 1, 1) == NULL);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    CHECK(create_srq(1, (uint32_t)env.device.max_srq_sge + 1) == NULL);
    CHECK_EQ(errno, EINVAL);
}

const struct test srq_tests[] = {
    {"shared", shared, false}, {"full", full, false},       {"resize", resize, false},
    {"limit", limit, false},   {"refused", refused, false}, {NULL, NULL, false},
};
