/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels, solicited events, and events that nobody polled for. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "conformance.h"

static int ready(int fd, int milliseconds)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, milliseconds);
}

static void send_one(struct pair *pair, unsigned int flags)
{
    struct ibv_wc wc;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = flags};
    CHECK_EQ(post_recv(pair->qp[1], 0, at(1, 0), 10), 0);
    CHECK_EQ(post_send(pair->qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair->cq[0], &wc);
}

static void completion(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq *cq = NULL;
    void *cq_context = &env;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    CHECK_MADE(channel, ibv_create_comp_channel);
    OPEN(&pair, .channel = channel);
    send_one(&pair, 0); /* not armed: no event */
    CHECK_EQ(ready(channel->fd, 100), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
    CHECK_EQ(ready(channel->fd, 0), 0);
    send_one(&pair, 0);
    send_one(&pair, 0);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    CHECK(cq == pair.cq[1] && cq_context == NULL);
    CHECK_EQ(ready(channel->fd, 100), 0); /* one event for one request */
    ibv_ack_cq_events(cq, 1);
    WAIT_OK(cq, &wc);
    WAIT_OK(cq, &wc);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

static void solicited(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    CHECK_MADE(channel, ibv_create_comp_channel);
    OPEN(&pair, .channel = channel);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    send_one(&pair, 0);
    CHECK_EQ(ready(channel->fd, 100), 0);
    send_one(&pair, IBV_SEND_SOLICITED);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    ibv_ack_cq_events(cq, 1);
    WAIT_OK(cq, &wc);
    WAIT_OK(cq, &wc);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, at(1, 0), env.mr->rkey);
    wr.send_flags = IBV_SEND_SOLICITED;
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 10), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    ibv_ack_cq_events(cq, 1);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* An error counts as solicited (IBTA 11.4.2.2). */
static void solicited_error(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    CHECK_MADE(channel, ibv_create_comp_channel);
    OPEN(&pair, .channel = channel);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 10), 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    CHECK_EQ(qp_to_error(pair.qp[1]), 0);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    ibv_ack_cq_events(cq, 1);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

static struct ibv_cq_moderation_caps moderation(void)
{
    struct ibv_device_attr_ex attr = {0};
    return ibv_query_device_ex(env.context, NULL, &attr) == 0 ? attr.cq_mod_caps
                                                              : (struct ibv_cq_moderation_caps){0};
}

static int moderate(struct ibv_cq *cq, uint16_t count, uint16_t period)
{
    struct ibv_modify_cq_attr attr = {
        .attr_mask = IBV_CQ_ATTR_MODERATE,
        .moderate = {.cq_count = count, .cq_period = period},
    };
    return ibv_modify_cq(cq, &attr);
}

/* One event for so many completions. */
static void moderated(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    struct ibv_modify_cq_attr unknown = {.attr_mask = 1U << 31};
    if (moderation().max_cq_count < 4)
        SKIP("no moderation of completion events: cq_mod_caps.max_cq_count is %u", moderation().max_cq_count);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    CHECK_MADE(channel, ibv_create_comp_channel);
    OPEN(&pair, .channel = channel);
    CHECK(ibv_modify_cq(pair.cq[1], &unknown) != 0);
    CHECK_EQ(moderate(pair.cq[1], 4, 0), 0);
    for (int round = 0; round < 3; ++round) {
        CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
        for (int i = 0; i < 3; ++i)
            send_one(&pair, 0);
        CHECK_EQ(ready(channel->fd, 100), 0);
        send_one(&pair, 0);
        CHECK_EQ(ready(channel->fd, 5000), 1);
        CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
        ibv_ack_cq_events(cq, 1);
        CHECK_EQ(ready(channel->fd, 100), 0);
        for (int i = 0; i < 4; ++i)
            WAIT_OK(pair.cq[1], &wc);
    }
    /* Who waits for solicited ones waits for one of them. */
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    send_one(&pair, IBV_SEND_SOLICITED);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    ibv_ack_cq_events(cq, 1);
    /* Without moderation, as ever. */
    CHECK_EQ(moderate(pair.cq[1], 0, 0), 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
    send_one(&pair, 0);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    ibv_ack_cq_events(cq, 1);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* One that is alone is told of after a while. */
static void moderated_by_time(void)
{
    struct pair pair;
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    if (moderation().max_cq_period < 50000 || moderation().max_cq_count < 1000)
        SKIP("no moderation of completion events by time: cq_mod_caps.max_cq_period is %u",
             moderation().max_cq_period);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    CHECK_MADE(channel, ibv_create_comp_channel);
    OPEN(&pair, .channel = channel);
    CHECK_EQ(moderate(pair.cq[1], 1000, 50000), 0);
    for (int round = 0; round < 3; ++round) {
        CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
        send_one(&pair, 0);
        send_one(&pair, 0);
        CHECK_EQ(ready(channel->fd, 5000), 1);
        CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
        CHECK(cq == pair.cq[1]);
        ibv_ack_cq_events(cq, 1);
        CHECK_EQ(ready(channel->fd, 100), 0);
    }
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* What is asked of a queue without a channel is heard by nobody. */
static void no_channel(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    send_one(&pair, IBV_SEND_SOLICITED);
    WAIT_OK(pair.cq[1], &wc);
    pair_close(&pair);
}

/* A program that sleeps in poll() on a blocking file does not wake for an object that is gone, and block in the verb. */
static void gone(void)
{
    struct pair pair, other;
    struct ibv_wc wc;
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 15, .max_sge = 1}};
    struct ibv_srq_attr limit = {.srq_limit = 10};
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    struct ibv_srq *srq = ibv_create_srq(env.pd, &init);
    CHECK(channel != NULL && srq != NULL);
    OPEN(&pair, .channel = channel, .srq = srq);
    OPEN(&other, .channel = channel);
    struct ibv_sge sge = sge_of(at(1, 0), 10);
    struct ibv_recv_wr receive = {.sg_list = &sge, .num_sge = 1}, *bad;
    for (int i = 0; i < 10; ++i)
        CHECK_EQ(ibv_post_srq_recv(srq, &receive, &bad), 0);
    CHECK_EQ(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
    CHECK_EQ(ibv_req_notify_cq(other.cq[1], 0), 0);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair.cq[0], &wc);
    send_one(&other, 0);
    CHECK_EQ(ready(channel->fd, 5000), 1);
    CHECK_EQ(ready(env.context->async_fd, 5000), 1);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    CHECK_EQ(ready(env.context->async_fd, 100), 0);
    CHECK_EQ(ready(channel->fd, 0), 1);
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    CHECK(cq == other.cq[1]);
    ibv_ack_cq_events(cq, 1);
    CHECK_EQ(ready(channel->fd, 100), 0);
    pair_close(&other);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

static void nothing_waits(void)
{
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    struct ibv_async_event event;
    CHECK_MADE(channel, ibv_create_comp_channel);
    CHECK_EQ(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK), 0);
    errno = 0;
    CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), -1);
    CHECK_EQ(errno, EAGAIN);
    const int fd = env.context->async_fd, flags = fcntl(fd, F_GETFL);
    CHECK_EQ(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
    errno = 0;
    CHECK_EQ(ibv_get_async_event(env.context, &event), -1);
    CHECK_EQ(errno, EAGAIN);
    CHECK_EQ(fcntl(fd, F_SETFL, flags), 0);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

static void channel_in_use(void)
{
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    CHECK_MADE(channel, ibv_create_comp_channel);
    struct ibv_cq *cq = ibv_create_cq(env.context, 1, &env, channel, 0);
    CHECK_MADE(cq, ibv_create_cq);
    CHECK(cq->channel == channel && cq->cq_context == &env && cq->context == env.context);
    CHECK_EQ(ibv_destroy_comp_channel(channel), EBUSY);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

const struct test event_tests[] = {
    {"completion", completion, false},
    {"solicited", solicited, false},
    {"solicited_error", solicited_error, false},
    {"no_channel", no_channel, false},
    {"gone", gone, false},
    {"nothing_waits", nothing_waits, false},
    {"channel_in_use", channel_in_use, false},
    {"moderated", moderated, false},
    {"moderated_by_time", moderated_by_time, false},
    {NULL, NULL, false},
};
