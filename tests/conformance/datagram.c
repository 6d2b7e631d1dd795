/* SPDX-License-Identifier: BSD-2-Clause */
/* Unreliable connections, datagrams and multicast. */
#include <errno.h>
#include <string.h>

#include "conformance.h"

enum { kGrh = 40 }; /* bytes in front of a received datagram (IBTA 11.4.1.2) */

static void uc_send(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_UC);
    for (uint32_t length = 1; length < 9000; length = length * 3 + 1) {
        struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = length};
        fill(at(0, 0), length, length);
        CHECK_EQ(post_recv(pair.qp[1], length, at(1, 0), length), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), length), 0);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(wc.wr_id, length);
        CHECK_EQ(wc.byte_len, length);
        CHECK_EQ(wc.imm_data, length);
        CHECK(filled(at(1, 0), length, length));
        WAIT_OK(pair.cq[0], &wc);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
    }
    pair_close(&pair);
}

static void uc_write(void)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, .type = IBV_QPT_UC);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 10), env.mr->rkey);
    fill(at(0, 0), 3000, 1);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 3000), 0);
    WAIT_OK(pair.cq[0], &wc);
    wr = rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, at(1, 4000), env.mr->rkey);
    wr.imm_data = 99;
    CHECK_EQ(post_recv(pair.qp[1], 3, at(1, 60000), 1), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 3000), 0);
    WAIT_OK(pair.cq[1], &wc);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(wc.imm_data, 99);
    CHECK(filled(at(1, 10), 3000, 1) && filled(at(1, 4000), 3000, 1));
    pair_close(&pair);
}

static struct ibv_send_wr datagram(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = qpn;
    wr.wr.ud.remote_qkey = qkey;
    return wr;
}

static void ud_send(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_ah *ah = ah_to_self();
    CHECK_MADE(ah, ibv_create_ah);
    OPEN(&pair, .type = IBV_QPT_UD);
    struct ibv_send_wr wr = datagram(ah, pair.qp[1]->qp_num, 0x1234);
    for (unsigned kind = 0; kind < 3; ++kind) {
        const uint32_t length = kind == 1 ? 40 : 1000;
        wr.opcode = kind == 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
        wr.imm_data = kind == 2 ? 0xcafe : 0;
        wr.send_flags = kind == 1 ? IBV_SEND_INLINE : 0;
        fill(at(0, 0), length, kind);
        memset(at(1, 0), 0, 2000);
        CHECK_EQ(post_recv(pair.qp[1], kind, at(1, 0), 2000), 0);
        CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), length), 0);
        WAIT_OK(pair.cq[1], &wc);
        CHECK_EQ(wc.wr_id, kind);
        CHECK_EQ(wc.byte_len, length + kGrh);
        CHECK_EQ(wc.src_qp, pair.qp[0]->qp_num);
        CHECK_EQ(wc.qp_num, pair.qp[1]->qp_num);
        CHECK((wc.wc_flags & IBV_WC_GRH) != 0);
        CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, kind == 2 ? IBV_WC_WITH_IMM : 0);
        if (kind == 2)
            CHECK_EQ(wc.imm_data, 0xcafe);
        CHECK(filled(at(1, kGrh), length, kind));
        WAIT_OK(pair.cq[0], &wc);
    }
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void ud_reply(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_ah *ah = ah_to_self();
    CHECK_MADE(ah, ibv_create_ah);
    OPEN(&pair, .type = IBV_QPT_UD);
    struct ibv_send_wr wr = datagram(ah, pair.qp[1]->qp_num, 0x1234);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 200), 0);
    CHECK_EQ(post_recv(pair.qp[0], 0, at(0, 1000), 200), 0);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 100), 0);
    WAIT_OK(pair.cq[1], &wc);
    struct ibv_ah *back = ibv_create_ah_from_wc(env.pd, &wc, (struct ibv_grh *)(void *)at(1, 0), env.port);
    CHECK_MADE(back, ibv_create_ah_from_wc);
    wr = datagram(back, wc.src_qp, 0x1234);
    fill(at(1, 500), 30, 4);
    CHECK_EQ(post_send(pair.qp[1], &wr, at(1, 500), 30), 0);
    WAIT_OK(pair.cq[0], &wc);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(at(0, 1000 + kGrh), 30, 4));
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_ah(back), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

/* A wrong Q_Key or an unknown QP: the sender hears nothing, the receiver gets nothing (IBTA 10.2.5). */
static void ud_dropped(void)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_ah *ah = ah_to_self();
    CHECK_MADE(ah, ibv_create_ah);
    OPEN(&pair, .type = IBV_QPT_UD);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 2000), 0);
    struct ibv_send_wr wr = datagram(ah, pair.qp[1]->qp_num, 0x9999);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair.cq[0], &wc);
    wr = datagram(ah, 0xfffff0, 0x1234);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(quiet(pair.cq[1]));
    CHECK(all_bytes(at(1, 0), 2000, 0));
    wr = datagram(ah, pair.qp[1]->qp_num, 0x1234); /* both QPs still work */
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 10), 0);
    WAIT_OK(pair.cq[1], &wc);
    pair_close(&pair);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void multicast_to(union ibv_gid group)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_ah_attr attr = {
        .is_global = 1,
        .port_num = env.port,
        .grh = {.dgid = group, .sgid_index = (uint8_t)env.gid_index, .hop_limit = 1},
    };
    OPEN(&pair, .type = IBV_QPT_UD);
    struct ibv_ah *ah = ibv_create_ah(env.pd, &attr);
    CHECK_MADE(ah, ibv_create_ah);
    CHECK_OFFERS(ibv_attach_mcast(pair.qp[1], &group, 0), 0);
    CHECK_EQ(post_recv(pair.qp[1], 0, at(1, 0), 500), 0);
    struct ibv_send_wr wr = datagram(ah, 0xffffff, 0x1234);
    fill(at(0, 0), 100, 8);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 100), 0);
    WAIT_OK(pair.cq[0], &wc);
    if (wait_wc(pair.cq[1], &wc)) {
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK(filled(at(1, kGrh), 100, 8));
    } else {
        test_skip("no datagram within 10 s: the network does not loop multicast back");
    }
    CHECK_EQ(ibv_detach_mcast(pair.qp[1], &group, 0), 0);
    CHECK(ibv_detach_mcast(pair.qp[1], &group, 0) != 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&pair);
}

static void multicast(void)
{
    multicast_to((union ibv_gid){.raw = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}});
}

/* As RoCEv2 has groups of IPv4. */
static void multicast_ipv4(void)
{
    multicast_to((union ibv_gid){.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}});
}

static void multicast_needs_ud(void)
{
    struct pair pair;
    const union ibv_gid group = {.raw = {0xff, 0x0e, [15] = 1}};
    OPEN(&pair, .type = IBV_QPT_RC);
    CHECK_OFFERS(ibv_attach_mcast(pair.qp[0], &group, 0), EINVAL);
    CHECK_EQ(ibv_detach_mcast(pair.qp[0], &group, 0), EINVAL);
    pair_close(&pair);
}

static void ah_errors(void)
{
    struct ibv_ah *ah = ah_to_self();
    CHECK_MADE(ah, ibv_create_ah);
    CHECK(ah->pd == env.pd && ah->context == env.context);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    struct ibv_ah_attr good = {
        .is_global = 1,
        .port_num = env.port,
        .grh = {.dgid = env.gid, .sgid_index = (uint8_t)env.gid_index, .hop_limit = 64},
    };
    struct ibv_ah_attr attr = good;
    attr.is_global = 0;
    errno = 0;
    CHECK(ibv_create_ah(env.pd, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
    attr = good;
    attr.port_num = 0;
    errno = 0;
    CHECK(ibv_create_ah(env.pd, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
    attr.port_num = 200;
    errno = 0;
    CHECK(ibv_create_ah(env.pd, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
    attr = good;
    attr.grh.sgid_index = 250;
    errno = 0;
    CHECK(ibv_create_ah(env.pd, &attr) == NULL);
    CHECK_EQ(errno, ENODATA);
}

const struct test datagram_tests[] = {
    {"uc_send", uc_send, false},
    {"uc_write", uc_write, false},
    {"ud_send", ud_send, false},
    {"ud_reply", ud_reply, false},
    {"ud_dropped", ud_dropped, false},
    {"multicast", multicast, false},
    {"multicast_ipv4", multicast_ipv4, true},
    {"multicast_needs_ud", multicast_needs_ud, false},
    {"ah_errors", ah_errors, false},
    {NULL, NULL, false},
};
