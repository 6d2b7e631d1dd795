/* SPDX-License-Identifier: BSD-2-Clause */
/* iWARP: connections through librdmacm, what differs from InfiniBand's rules, and which tests ask for more. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

/* ---- connections ------------------------------------------------------------------------------------------------- */

struct connection {
    struct rdma_event_channel *channel;
    struct rdma_cm_id *listener, *active, *passive;
};

/* The address of the first network interface that is no loopback. */
static bool own_address(struct sockaddr_in *address)
{
    struct ifaddrs *list;
    bool found = false;
    if (getifaddrs(&list) != 0)
        return false;
    for (struct ifaddrs *each = list; each != NULL && !found; each = each->ifa_next) {
        found = each->ifa_addr != NULL && each->ifa_addr->sa_family == AF_INET &&
                (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
        if (found)
            memcpy(address, each->ifa_addr, sizeof(*address));
    }
    freeifaddrs(list);
    return found;
}

/* Waits for an event of this type, and takes the ID that it brings. */
static bool expect(struct connection *connection, enum rdma_cm_event_type type, struct rdma_cm_id **id)
{
    struct pollfd ready = {.fd = connection->channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    if (poll(&ready, 1, 10000) != 1 || rdma_get_cm_event(connection->channel, &event) != 0) {
        test_fail(__FILE__, __LINE__, "no %s", rdma_event_str(type));
        return false;
    }
    const bool right = event->event == type;
    if (!right)
        test_fail(__FILE__, __LINE__, "%s instead of %s", rdma_event_str(event->event), rdma_event_str(type));
    else if (id != NULL)
        *id = event->id;
    rdma_ack_cm_event(event);
    return right;
}

static bool connect_ids(struct connection *connection, uint32_t active_qpn, uint32_t passive_qpn)
{
    struct sockaddr_in address;
    struct rdma_conn_param active = {.responder_resources = 4, .initiator_depth = 4, .qp_num = active_qpn};
    struct rdma_conn_param passive = {.responder_resources = 4, .initiator_depth = 4, .qp_num = passive_qpn};
    if (!own_address(&address)) {
        test_fail(__FILE__, __LINE__, "no network interface has an IPv4 address");
        return false;
    }
    address.sin_port = 0;
    connection->channel = rdma_create_event_channel();
    if (connection->channel == NULL ||
        rdma_create_id(connection->channel, &connection->listener, NULL, RDMA_PS_TCP) != 0 ||
        rdma_bind_addr(connection->listener, (struct sockaddr *)&address) != 0 ||
        rdma_listen(connection->listener, 1) != 0 ||
        rdma_create_id(connection->channel, &connection->active, NULL, RDMA_PS_TCP) != 0) {
        test_fail(__FILE__, __LINE__, "librdmacm: %s", strerror(errno));
        return false;
    }
    address.sin_port = rdma_get_src_port(connection->listener);
    if (rdma_resolve_addr(connection->active, NULL, (struct sockaddr *)&address, 10000) != 0 ||
        !expect(connection, RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
        return false;
    if (strcmp(connection->active->verbs->device->name, env.context->device->name) != 0) {
        test_fail(__FILE__, __LINE__, "the address belongs to %s, too; remove that device",
                  connection->active->verbs->device->name);
        return false;
    }
    if (rdma_resolve_route(connection->active, 10000) != 0 ||
        !expect(connection, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
        rdma_connect(connection->active, &active) != 0 ||
        !expect(connection, RDMA_CM_EVENT_CONNECT_REQUEST, &connection->passive))
        return false;
    /* Both sides tell that they are ready, in any order. */
    if (rdma_accept(connection->passive, &passive) != 0) {
        test_fail(__FILE__, __LINE__, "rdma_accept: %s", strerror(errno));
        return false;
    }
    return expect(connection, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
           expect(connection, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

struct connection *iwarp_connect(uint32_t active_qpn, uint32_t passive_qpn)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    if (connection != NULL && !connect_ids(connection, active_qpn, passive_qpn)) {
        test_fail(__FILE__, __LINE__, "no connection: %s", strerror(errno));
        iwarp_disconnect(connection);
        return NULL;
    }
    return connection;
}

void iwarp_disconnect(struct connection *connection)
{
    if (connection == NULL)
        return;
    struct rdma_cm_id *ids[] = {connection->active, connection->passive, connection->listener};
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); ++i)
        if (ids[i] != NULL)
            rdma_destroy_id(ids[i]);
    if (connection->channel != NULL)
        rdma_destroy_event_channel(connection->channel);
    free(connection);
}

/* ---- what the other tests ask for -------------------------------------------------------------------------------- */

const char *not_for_device(const char *test)
{
    if (!env.iwarp && strncmp(test, "iwarp.", strlen("iwarp.")) == 0)
        return "the device is not iWARP";
    if (env.context->cmd_fd < 0 && strncmp(test, "import.", strlen("import.")) == 0 &&
        strcmp(test, "import.refused") != 0)
        return "no file stands for the device";
    if (!env.iwarp)
        return NULL;
    static const struct {
        const char *test; /* or the beginning of its name, up to the dot */
        const char *reason;
    } lacks[] = {
        {"import.", "siw's provider imports nothing"},
        {"datagram.", "reliable connections are all there is"},
        {"memory.extended", "writes complete before they arrive; iwarp.writes"},
        {"rc.send_imm", "there are no immediate data"},
        {"rc.send_inline", "siw takes 80 bytes inline; iwarp.inline_data"},
        {"rc.rdma_write", "writes complete before they arrive; iwarp.writes"},
        {"rc.fence", "writes complete before they arrive; iwarp.writes"},
        {"rc.rdma_write_imm", "there are no immediate data"},
        {"rc.atomics", "there are no atomic operations"},
        {"rc.order", "there are no immediate data; iwarp.order"},
        {"rc.query", "siw does not tell the state; iwarp.state"},
        {"srq.limit", "siw keeps the limit after the event; iwarp.srq"},
        {"wr.inline_data", "writes complete before they arrive; iwarp.wr"},
        {"wr.sends", "there are no immediate data; iwarp.wr"},
        {"wr.rdma", "there are no immediate data; iwarp.wr"},
        {"wr.atomics", "there are no atomic operations"},
        {"wr.datagrams", "reliable connections are all there is"},
        {"cq.extended", "there are no immediate data; iwarp.extended_cq"},
        {"cq.extended_datagram", "reliable connections are all there is"},
        {"event.solicited_error", "errors are not solicited in siw"},
        {"event.solicited", "siw makes no events for solicited messages alone; iwarp.notify"},
        /* A stream carries no acknowledgements: a request completes when it was sent, before the peer refuses it. */
        {"protection.wrong_rkey", "writes complete locally; iwarp.denied"},
        {"protection.out_of_bounds", "writes complete locally; iwarp.denied"},
        {"protection.access_not_granted", "writes complete locally; iwarp.denied"},
        {"protection.gone", "writes complete locally; iwarp.denied"},
        {"protection.other_domain", "writes complete locally; iwarp.denied"},
        {"protection.qp_rights", "writes complete locally; iwarp.denied"},
        {"protection.receive_into_read_only", "sends complete locally; iwarp.denied"},
        {"failure.flush_sends", "a QP that lost its connection refuses requests; iwarp.lost_connection"},
        {"failure.flush_late_receives", "siw flushes what was posted before"},
        {"failure.error_then_flush", "writes complete locally; iwarp.denied"},
        {"failure.receiver_not_ready",
         "a message that is not expected ends the connection; iwarp.not_expected"},
        {"failure.receiver_ready_at_last",
         "a message that is not expected ends the connection; iwarp.not_expected"},
        {"failure.nobody_there", "connections are librdmacm's"},
        {"failure.too_long", "sends complete locally; iwarp.too_long"},
        {"failure.reuse", "a QP has one connection in its life"},
        {"post.inline_too_long", "siw takes 80 bytes inline; iwarp.inline_data"},
        {"post.bad_atomics", "there are no atomic operations"},
        {"post.wrong_operation", "other types of QPs there are none; iwarp.wrong_operation"},
        {"post.datagram_without_address", "reliable connections are all there is"},
        {"post.send_queue_full", "a message that is not expected ends the connection"},
        {"post.before_ready", "siw takes receive requests in every state; iwarp.not_connected"},
        {"post.refused_for_good", "connections are librdmacm's; iwarp.not_connected"},
        {"object.qp_states", "connections are librdmacm's; iwarp.not_connected"},
    };
    for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); ++i) {
        const size_t length = strlen(lacks[i].test);
        if (lacks[i].test[length - 1] == '.' ? strncmp(test, lacks[i].test, length) == 0
                                             : strcmp(test, lacks[i].test) == 0)
            return lacks[i].reason;
    }
    return NULL;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void inline_data(void)
{
    enum { kInline = 80 };
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .inline_data = kInline);
    struct ibv_sge sges[3] = {sge_of(at(0, 0), 30), sge_of(at(0, 100), 0), sge_of(at(0, 200), kInline - 30)};
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE, .sg_list = sges, .num_sge = 3};
    for (size_t i = 0; i < 3; ++i)
        sges[i].lkey = 0xdead; /* nobody looks at it */
    fill(at(0, 0), 30, 1);
    fill(at(0, 200), kInline - 30, 2);
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 0), kInline), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    memset(at(0, 0), 0xff, 300); /* the data were taken when they were posted */
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, kInline);
    CHECK(filled(at(1, 0), 30, 1) && filled(at(1, 30), kInline - 30, 2));
    WAIT_OK(pair.cq[0], &wc);
    sges[1].length = 1;
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), EINVAL);
    wr.num_sge = 0;
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 0);
    WAIT_OK(pair.cq[0], &wc);
    pair_close(&pair);
}

/* Many more messages than the queues hold: each arrives once and in order, and completes once and in order. */
static void order(void)
{
    enum { kMessages = 1000, kSize = 600, kDepth = 15 };
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_wr = kDepth, .recv_wr = kDepth);
    unsigned posted = 0, received = 0, sent = 0, credits = 0;
    for (; credits < kDepth; ++credits)
        CHECK_EQ(post_recv(pair.qp[1], credits, at(1, (size_t)credits * kSize), kSize), 0);
    while (received < kMessages || sent < kMessages) {
        while (posted < kMessages && posted - sent < kDepth && posted < credits) {
            const size_t slot = posted % kDepth;
            struct ibv_send_wr wr = {.wr_id = posted, .opcode = IBV_WR_SEND};
            fill(at(0, slot * kSize), kSize, posted);
            CHECK_EQ(post_send(pair.qp[0], &wr, at(0, slot * kSize), kSize - posted % 100), 0);
            ++posted;
        }
        if (ibv_poll_cq(pair.cq[0], 1, &wc) == 1) {
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            CHECK_EQ(wc.wr_id, sent);
            ++sent;
        }
        if (received < kMessages) {
            WAIT_OK(pair.cq[1], &wc);
            const size_t slot = received % kDepth;
            CHECK_EQ(wc.wr_id, received);
            CHECK_EQ(wc.byte_len, kSize - received % 100);
            CHECK(filled(at(1, slot * kSize), wc.byte_len, received));
            ++received;
            if (credits < kMessages) {
                CHECK_EQ(post_recv(pair.qp[1], credits, at(1, slot * kSize), kSize), 0);
                ++credits;
            }
        }
    }
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), 0);
    pair_close(&pair);
}

/* A write has arrived when a message behind it has (RFC 5040 section 5.5); a fenced one carries what was read before. */
static void writes(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND};
    for (uint32_t length = 1; length <= 30000; length = length * 5 + 1) {
        struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 64), env.mr->rkey);
        wr.send_flags = length < 80 ? IBV_SEND_INLINE : 0;
        fill(at(0, 0), length, length);
        CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 60000), 1), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), length), 0);
        CHECK_EQ(post_send(pair.qp[0], &send, at(0, 0), 1), 0);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK(filled(at(1, 64), length, length));
        CHECK(all_bytes(at(1, 0), 64, 0) && all_bytes(at(1, 64 + length), 64, 0));
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
    }
    for (unsigned round = 0; round < 50; ++round) {
        struct ibv_sge data = sge_of(at(0, 0), 8192), byte = sge_of(at(0, 0), 1);
        struct ibv_send_wr last = send, *bad = NULL;
        struct ibv_send_wr write = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 20000), env.mr->rkey);
        struct ibv_send_wr read = rdma_wr(IBV_WR_RDMA_READ, at(1, 0), env.mr->rkey);
        last.sg_list = &byte;
        write.sg_list = read.sg_list = &data;
        last.num_sge = write.num_sge = read.num_sge = 1;
        last.send_flags = IBV_SEND_SIGNALED;
        write.send_flags = IBV_SEND_FENCE;
        read.next = &write;
        write.next = &last;
        fill(at(1, 0), 8192, round);
        CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 60000), 1), 0);
        CHECK_EQ(ibv_post_send(pair.qp[0], &read, &bad), 0);
        WAIT_OK(pair.cq[1], &wc);
        CHECK(filled(at(1, 20000), 8192, round));
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
    }
    pair_close(&pair);
}

/* A read takes one SGE (RFC 5040 section 4.4), or none. */
static void reads(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_sge sges[2] = {sge_of(at(0, 0), 10), sge_of(at(0, 10), 10)};
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_READ, at(1, 0), env.mr->rkey);
    wr.sg_list = sges;
    wr.num_sge = 2;
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), EINVAL);
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_INLINE;
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), EINVAL);
    wr.send_flags = 0;
    wr.num_sge = 0;
    CHECK_EQ(post_send(pair.qp[0], &wr, NULL, 0), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
    CHECK_EQ(wc.byte_len, 0);
    pair_close(&pair);
}

/* A connection that broke: the peer's receive requests come back flushed. */
static bool broken(struct pair *pair)
{
    struct ibv_wc wc;
    return wait_wc(pair->cq[1], &wc) && wc.status == IBV_WC_WR_FLUSH_ERR;
}

/* The key no longer grants anything after the peer or the owner invalidated it. */
static void invalidate(void)
{
    struct pair pair;
    struct ibv_wc wc;
    for (int remotely = 0; remotely < 2; ++remotely) {
        struct ibv_mr *mr =
            ibv_reg_mr(env.pd, at(1, 0), 1000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        CHECK_MADE(mr, ibv_reg_mr);
        OPEN(&pair, .type = IBV_QPT_RC);
        CHECK_EQ(post_recv(pair.qp[1], 1, at(1, 2000), 100), 0);
        CHECK_EQ(post_recv(pair.qp[1], 2, at(1, 2000), 100), 0);
        struct ibv_send_wr write = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), mr->rkey);
        memset(at(0, 0), 0x11, 100);
        CHECK_EQ(post_send(pair.qp[0], &write, at(0, 0), 100), 0);
        WAIT_OK(pair.cq[0], &wc);
        struct ibv_send_wr send = {.opcode = remotely ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND};
        send.invalidate_rkey = mr->rkey;
        CHECK_EQ(post_send(pair.qp[0], &send, at(0, 0), 50), 0);
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(wc.byte_len, 50);
        CHECK(all_bytes(at(1, 0), 100, 0x11));
        if (!remotely) {
            struct ibv_send_wr local = {.wr_id = 7, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = mr->rkey};
            CHECK_EQ(post_send(pair.qp[1], &local, NULL, 0), 0);
            WAIT_OK(pair.cq[1], &wc);
            CHECK_EQ(wc.wr_id, 7);
            CHECK_EQ(wc.opcode, IBV_WC_LOCAL_INV);
        }
        memset(at(0, 0), 0x22, 100);
        CHECK_EQ(post_send(pair.qp[0], &write, at(0, 0), 100), 0);
        CHECK(broken(&pair));
        CHECK(all_bytes(at(1, 0), 100, 0x11));
        pair_close(&pair);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    }
}

/* An access that the key does not grant changes nothing and ends the connection. (siw lets every key be read.) */
static void denied_one(enum ibv_wr_opcode opcode, const void *remote, uint32_t rkey, uint32_t length)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    memset(at(0, 0), 0x11, kSideSize);
    memset(at(1, 0), 0x22, kSideSize);
    CHECK_EQ(post_recv(pair.qp[1], 2, at(1, 60000), 100), 0);
    struct ibv_send_wr wr = rdma_wr(opcode, remote, rkey);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), length), 0);
    WAIT(pair.cq[0], &wc);
    if (opcode == IBV_WR_RDMA_READ) {
        CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    } else {
        CHECK_EQ(wc.status, IBV_WC_SUCCESS); /* it was sent */
        CHECK(broken(&pair));
    }
    CHECK(all_bytes(at(0, 0), kSideSize, 0x11));
    CHECK(all_bytes(at(1, 0), kSideSize, 0x22));
    pair_close(&pair);
}

static void denied(void)
{
    struct ibv_mr *write_only =
        ibv_reg_mr(env.pd, at(1, 4096), 1000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_mr *read_only = ibv_reg_mr(env.pd, at(1, 4096), 1000, IBV_ACCESS_REMOTE_READ);
    struct ibv_pd *other_pd = ibv_alloc_pd(env.context);
    CHECK(write_only != NULL && read_only != NULL && other_pd != NULL);
    struct ibv_mr *other =
        ibv_reg_mr(other_pd, at(1, 0), 1000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK_MADE(other, ibv_reg_mr);
    denied_one(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey ^ 1, 100);
    denied_one(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey + 0x100, 100);
    denied_one(IBV_WR_RDMA_READ, at(1, 0), env.mr->rkey ^ 0x80, 100);
    denied_one(IBV_WR_RDMA_WRITE, at(1, 4095), write_only->rkey, 10);
    denied_one(IBV_WR_RDMA_WRITE, at(1, 4096), write_only->rkey, 1001);
    denied_one(IBV_WR_RDMA_WRITE, at(1, 4096), read_only->rkey, 10);
    denied_one(IBV_WR_RDMA_WRITE, at(1, 0), other->rkey, 10);
    CHECK_EQ(ibv_dereg_mr(other), 0);
    CHECK_EQ(ibv_dealloc_pd(other_pd), 0);
    CHECK_EQ(ibv_dereg_mr(read_only), 0);
    CHECK_EQ(ibv_dereg_mr(write_only), 0);
}

static void too_long(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    memset(at(0, 0), 0x44, 200);
    CHECK_EQ(post_recv(pair.qp[1], 9, at(1, 0), 100), 0);
    CHECK_EQ(post_recv(pair.qp[1], 10, at(1, 0), 100), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 101), 0);
    WAIT_OK(pair.cq[0], &wc);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 9);
    CHECK_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
    WAIT(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 10);
    CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    CHECK(all_bytes(at(1, 100), 100, 0));
    pair_close(&pair);
}

/* A message for which there is no receive request ends the connection. */
static void not_expected(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    CHECK_EQ(post_recv(pair.qp[0], 5, at(0, 1000), 100), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair.cq[0], &wc);
    WAIT(pair.cq[0], &wc);
    CHECK_EQ(wc.wr_id, 5);
    CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
}

/* What was refused for lack of a connection is not sent when there is one. */
static void not_connected(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct pair_options options = {.type = IBV_QPT_RC, .unconnected = true};
    CHECK(pair_open(&pair, &options));
    struct ibv_sge sge = sge_of(at(0, 0), 8);
    struct ibv_send_wr second = {.wr_id = 2, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1},
                       *bad = NULL;
    struct ibv_send_wr first = second;
    first.next = &second;
    CHECK_EQ(ibv_post_send(pair.qp[0], &first, &bad), ENOTCONN);
    CHECK(bad == &first);
    for (uint64_t i = 0; i < 3; ++i)
        CHECK_EQ(post_recv(pair.qp[1], i, at(1, 0), 8), 0);
    CHECK(pair_connect(&pair, &options));
    CHECK(quiet(pair.cq[1]));
    second.wr_id = 3;
    second.send_flags = IBV_SEND_SIGNALED;
    CHECK_EQ(ibv_post_send(pair.qp[0], &second, &bad), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.wr_id, 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK_EQ(wc.wr_id, 3);
    CHECK(quiet(pair.cq[1]));
    pair_close(&pair);
}

static void lost_connection(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(post_recv(pair.qp[0], 1, at(0, 0), 8), 0);
    CHECK_EQ(post_recv(pair.qp[1], 2, at(1, 0), 8), 0);
    CHECK_EQ(rdma_disconnect(pair.connection->active), 0);
    CHECK(expect(pair.connection, RDMA_CM_EVENT_DISCONNECTED, NULL));
    CHECK(expect(pair.connection, RDMA_CM_EVENT_DISCONNECTED, NULL));
    for (int side = 0; side < 2; ++side) {
        WAIT(pair.cq[side], &wc);
        CHECK_EQ(wc.wr_id, side + 1);
        CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    }
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 8), ENOTCONN);
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

static void wrong_operation(void)
{
    static const int opcodes[] = {IBV_WR_SEND_WITH_IMM,
                                  IBV_WR_RDMA_WRITE_WITH_IMM,
                                  IBV_WR_ATOMIC_CMP_AND_SWP,
                                  IBV_WR_ATOMIC_FETCH_AND_ADD,
                                  IBV_WR_TSO,
                                  77};
    struct pair pair;
    OPEN(&pair, .type = IBV_QPT_RC);
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(*opcodes); ++i) {
        struct ibv_send_wr wr = rdma_wr((enum ibv_wr_opcode)opcodes[i], at(1, 0), env.mr->rkey);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 8), EINVAL);
    }
    CHECK(quiet(pair.cq[0]));
    pair_close(&pair);
}

/* Requests are shared, and the limit fires once when fewer are left (IBTA 10.2.9.1). */
static void srq(void)
{
    struct pair pair[2];
    struct ibv_wc wc;
    struct ibv_async_event event;
    struct pollfd ready = {.fd = env.context->async_fd, .events = POLLIN};
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 15, .max_sge = 1}};
    struct ibv_srq *queue = ibv_create_srq(env.pd, &init);
    CHECK_OFFERED(queue, ibv_create_srq);
    OPEN(&pair[0], .srq = queue);
    OPEN(&pair[1], .srq = queue);
    struct ibv_srq_attr attr = {.max_wr = 60};
    CHECK_EQ(ibv_modify_srq(queue, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP);
    attr.srq_limit = 1000000;
    CHECK_EQ(ibv_modify_srq(queue, &attr, IBV_SRQ_LIMIT), EINVAL);
    attr.srq_limit = 4;
    CHECK_EQ(ibv_modify_srq(queue, &attr, IBV_SRQ_LIMIT), 0);
    CHECK_EQ(ibv_query_srq(queue, &attr), 0);
    CHECK_EQ(attr.srq_limit, 4);
    CHECK(attr.max_wr >= 15);
    while (poll(&ready, 1, 0) == 1) { /* what earlier tests left */
        CHECK_EQ(ibv_get_async_event(env.context, &event), 0);
        ibv_ack_async_event(&event);
    }
    for (uint64_t i = 0; i < 8; ++i) {
        struct ibv_sge sge = sge_of(at(1, i * 100), 100);
        struct ibv_recv_wr recv = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
        CHECK_EQ(ibv_post_srq_recv(queue, &recv, &bad), 0);
    }
    for (uint64_t i = 0; i < 8; ++i) {
        struct pair *from = &pair[i % 2];
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        fill(at(0, 0), 50, (unsigned)i);
        if (i < 4)
            CHECK_EQ(poll(&ready, 1, 0), 0);
        CHECK_EQ(post_send(from->qp[0], &wr, at(0, 0), 50), 0);
        WAIT_OK(from->cq[1], &wc);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.qp_num, from->qp[1]->qp_num);
        CHECK(filled(at(1, i * 100), 50, (unsigned)i));
        WAIT_OK(from->cq[0], &wc);
    }
    CHECK_EQ(poll(&ready, 1, 5000), 1);
    CHECK_EQ(ibv_get_async_event(env.context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event.element.srq == queue);
    ibv_ack_async_event(&event);
    CHECK_EQ(poll(&ready, 1, 100), 0);
    pair_close(&pair[0]);
    pair_close(&pair[1]);
    CHECK_EQ(ibv_destroy_srq(queue), 0);
}

/* A request for events of all completions outranks one for solicited ones, whichever comes first (IBTA 11.4.2.2). */
static void notify(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq *cq = NULL;
    void *cq_context = NULL;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(env.context);
    CHECK_MADE(channel, ibv_create_comp_channel);
    struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
    OPEN(&pair, .channel = channel);
    for (int first = 0; first < 2; ++first) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
        CHECK_EQ(ibv_req_notify_cq(pair.cq[1], first), 0);
        CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1 - first), 0);
        CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 10), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
        WAIT_OK(pair.cq[0], &wc);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(poll(&ready, 1, 5000), 1);
        CHECK_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
        CHECK(cq == pair.cq[1]);
        ibv_ack_cq_events(cq, 1);
    }
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* Each operation through an extended QP, in one batch. */
static void wr(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE |
                            IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_LOCAL_INV);
    struct ibv_mr *mr[2];
    for (int i = 0; i < 2; ++i) {
        mr[i] = ibv_reg_mr(env.pd, at(1, 0), 100, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        CHECK_MADE(mr[i], ibv_reg_mr);
        CHECK_EQ(post_recv(pair.qp[1], (uint64_t)i, at(1, 10000 + 3000 * (size_t)i), 3000), 0);
    }
    fill(at(0, 0), 2000, 1);
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(pair.qp[0]);
    CHECK_MADE(qp, ibv_qp_to_qp_ex);
    ibv_wr_start(qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    qp->wr_id = 0;
    ibv_wr_send(qp);
    ibv_wr_set_inline_data(qp, at(0, 0), 60);
    qp->wr_id = 1;
    ibv_wr_rdma_write(qp, env.mr->rkey, address(at(1, 20000)));
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 2000);
    qp->wr_id = 2;
    ibv_wr_rdma_read(qp, env.mr->rkey, address(at(1, 20000)));
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 20000)), 1500);
    qp->wr_id = 3; /* fenced: siw does not hold completions back for a read that is still going on */
    qp->wr_flags |= IBV_SEND_FENCE;
    ibv_wr_send_inv(qp, mr[0]->rkey);
    ibv_wr_set_sge(qp, env.mr->lkey, address(at(0, 0)), 30);
    qp->wr_id = 4;
    ibv_wr_local_inv(qp, mr[1]->rkey);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    static const enum ibv_wc_opcode opcodes[] = {IBV_WC_SEND, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ,
                                                 IBV_WC_SEND, IBV_WC_LOCAL_INV};
    for (uint64_t i = 0; i < 5; ++i) {
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.opcode, opcodes[i]);
    }
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 60);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.byte_len, 30);
    CHECK(filled(at(1, 10000), 60, 1) && filled(at(1, 13000), 30, 1));
    CHECK(filled(at(1, 20000), 2000, 1) && filled(at(0, 20000), 1500, 1));
    pair_close(&pair);
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(ibv_dereg_mr(mr[i]), 0);
}

/* What release 44.0 of the reference has not: every field of siw's completions through an extended CQ. */
static void extended_cq(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_poll_cq_attr poll_attr = {0};
    struct pair_options options = {.type = IBV_QPT_RC, .unconnected = true};
    struct ibv_cq_init_attr_ex attr = {.cqe = 60, .cq_context = &pair, .wc_flags = IBV_WC_STANDARD_FLAGS};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(env.context, &attr);
    CHECK_OFFERED(cq, ibv_create_cq_ex);
    CHECK(cq->cq_context == &pair && cq->cqe >= 60);
    CHECK(pair_open(&pair, &options));
    CHECK_EQ(ibv_destroy_qp(pair.qp[1]), 0);
    CHECK_EQ(ibv_destroy_cq(pair.cq[1]), 0);
    pair.cq[1] = ibv_cq_ex_to_cq(cq);
    struct ibv_qp_init_attr init = {
        .send_cq = pair.cq[1], .recv_cq = pair.cq[1], .cap = {16, 16, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    pair.qp[1] = ibv_create_qp(env.pd, &init);
    CHECK_MADE(pair.qp[1], ibv_create_qp);
    CHECK(pair_connect(&pair, &options));
    CHECK_EQ(ibv_start_poll(cq, &poll_attr), ENOENT);
    for (uint64_t i = 0; i < 3; ++i) {
        struct ibv_send_wr send = {.opcode = IBV_WR_SEND};
        CHECK_EQ(post_recv(pair.qp[1], i + 7, at(1, 100 * i), 100), 0);
        CHECK_EQ(post_send(pair.qp[0], &send, at(0, 0), 10 + (uint32_t)i), 0);
        WAIT_OK(pair.cq[0], &wc);
    }
    for (uint64_t i = 0; i < 3; ++i) {
        int error;
        do
            error = ibv_start_poll(cq, &poll_attr);
        while (error == ENOENT);
        CHECK_EQ(error, 0);
        CHECK_EQ(cq->wr_id, i + 7);
        CHECK_EQ(cq->status, IBV_WC_SUCCESS);
        CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
        CHECK_EQ(ibv_wc_read_vendor_err(cq), 0);
        CHECK_EQ(ibv_wc_read_byte_len(cq), 10 + i);
        CHECK_EQ(ibv_wc_read_qp_num(cq), pair.qp[1]->qp_num);
        CHECK_EQ(ibv_wc_read_wc_flags(cq), 0);
        ibv_end_poll(cq);
    }
    CHECK_EQ(ibv_start_poll(cq, &poll_attr), ENOENT);
    pair_close(&pair);
}

/* The capacities are told; the state is not. */
static void state(void)
{
    struct pair pair;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_EQ(ibv_query_qp(pair.qp[0], &attr, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
    CHECK_EQ(init.qp_type, IBV_QPT_RC);
    CHECK(init.cap.max_send_wr >= 16 && init.cap.max_recv_sge >= 4 && init.cap.max_inline_data >= 64);
    CHECK(init.send_cq == pair.cq[0] && init.recv_cq == pair.cq[0]);
    pair_close(&pair);
}

const struct test iwarp_tests[] = {
    {"inline_data", inline_data, false},
    {"order", order, false},
    {"writes", writes, false},
    {"reads", reads, true},
    {"invalidate", invalidate, true},
    {"denied", denied, false},
    {"too_long", too_long, false},
    {"not_expected", not_expected, false},
    {"not_connected", not_connected, true},
    {"lost_connection", lost_connection, true},
    {"wrong_operation", wrong_operation, true},
    {"srq", srq, true},
    {"notify", notify, true},
    {"wr", wr, true},
    {"extended_cq", extended_cq, true},
    {"state", state, false},
    {NULL, NULL, false},
};
