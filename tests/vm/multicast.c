/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends datagrams to a multicast group, or expects each of them once and in order. Runs on any libibverbs. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kGrh = 40, kLength = 700, kSlot = 1024, kCount = 20, kQkey = 0x1234567, kSeconds = 20 };

#define REQUIRE(condition)                                                                \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static unsigned char memory[kCount * 2 * kSlot];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static void open_device(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    REQUIRE(list != NULL);
    for (struct ibv_device **device = list; *device != NULL; ++device)
        if (strcmp(ibv_get_device_name(*device), name) == 0)
            context = ibv_open_device(*device);
    ibv_free_device_list(list);
    REQUIRE(context != NULL);
    pd = ibv_alloc_pd(context);
    REQUIRE(pd != NULL);
    mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    cq = ibv_create_cq(context, 2 * kCount, NULL, NULL, 0);
    REQUIRE(mr != NULL && cq != NULL);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 1, .max_recv_wr = 2 * kCount, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    qp = ibv_create_qp(pd, &init);
    REQUIRE(qp != NULL);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = kQkey};
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
    attr.qp_state = IBV_QPS_RTR;
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
}

static struct ibv_wc wait_for_completion(void)
{
    struct ibv_wc wc;
    const time_t start = time(NULL);
    int count;
    while ((count = ibv_poll_cq(cq, 1, &wc)) == 0)
        REQUIRE(time(NULL) - start <= kSeconds);
    REQUIRE(count == 1 && wc.status == IBV_WC_SUCCESS);
    return wc;
}

static unsigned char byte_of(int turn, int place)
{
    return (unsigned char)(turn * 31 + place * 7 + place / 256);
}

static void post_receive(int slot)
{
    struct ibv_sge sge = {(uintptr_t)&memory[slot * kSlot], kSlot, mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = (uint64_t)slot, .sg_list = &sge, .num_sge = 1}, *bad;
    REQUIRE(ibv_post_recv(qp, &wr, &bad) == 0);
}

static void receive_all(const union ibv_gid *group)
{
    for (int slot = 0; slot < 2 * kCount; ++slot)
        post_receive(slot);
    REQUIRE(ibv_attach_mcast(qp, group, 0) == 0);
    puts("ready");
    fflush(stdout);
    for (int turn = 0; turn < kCount; ++turn) {
        const struct ibv_wc wc = wait_for_completion();
        const unsigned char *bytes = &memory[wc.wr_id * kSlot];
        REQUIRE(wc.byte_len == kGrh + kLength && (wc.wc_flags & IBV_WC_GRH) != 0);
        /* The last bytes of the header are the group's, of either kind of address. */
        REQUIRE(memcmp(bytes + kGrh - 4, group->raw + 12, 4) == 0);
        for (int place = 0; place < kLength; ++place)
            REQUIRE(bytes[kGrh + place] == byte_of(turn, place));
    }
    REQUIRE(ibv_detach_mcast(qp, group, 0) == 0);
}

static void send_all(const union ibv_gid *group, int gid_index)
{
    struct ibv_ah_attr path = {
        .is_global = 1,
        .port_num = 1,
        .grh = {.dgid = *group, .sgid_index = (uint8_t)gid_index, .hop_limit = 4},
    };
    struct ibv_ah *ah = ibv_create_ah(pd, &path);
    REQUIRE(ah != NULL);
    for (int turn = 0; turn < kCount; ++turn) {
        for (int place = 0; place < kLength; ++place)
            memory[place] = byte_of(turn, place);
        struct ibv_sge sge = {(uintptr_t)memory, kLength, mr->lkey};
        struct ibv_send_wr wr = {
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_SEND,
            .send_flags = IBV_SEND_SIGNALED,
            .wr.ud = {.ah = ah, .remote_qpn = 0xffffff, .remote_qkey = kQkey},
        };
        struct ibv_send_wr *bad;
        REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
        wait_for_completion();
    }
    REQUIRE(ibv_destroy_ah(ah) == 0);
}

int main(int argc, char **argv)
{
    union ibv_gid group;
    if (argc != 5 || inet_pton(AF_INET6, argv[4], group.raw) != 1) {
        fprintf(stderr, "usage: %s send|receive DEVICE GID-INDEX GROUP\n", argv[0]);
        return 2;
    }
    open_device(argv[2]);
    if (strcmp(argv[1], "send") == 0)
        send_all(&group, atoi(argv[3]));
    else
        receive_all(&group);
    return 0;
}
