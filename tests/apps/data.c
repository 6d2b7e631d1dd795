/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_data: two processes, a connection of verbs, and every byte checked that goes over it. Plain C for any libibverbs. */
#include "data.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kQueue = 128, kPsn = 77, kQkey = 0x11111111, kInline = 64 };

/* ---- the device ---------------------------------------------------------------------------------------------- */

static struct ibv_context *open_device(const char *name)
{
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    REQUIRE(list != NULL && count > 0, "there is no RDMA device");
    struct ibv_context *context = NULL;
    for (int i = 0; i < count && context == NULL; ++i)
        if (name == NULL || strcmp(name, ibv_get_device_name(list[i])) == 0)
            context = ibv_open_device(list[i]);
    REQUIRE(context != NULL, "no device %s", name != NULL ? name : "opens");
    ibv_free_device_list(list);
    return context;
}

/* The first GID that is made of an IPv4 address, or else the first of all. */
static int choose_gid(struct ibv_context *context)
{
    struct ibv_port_attr port;
    REQUIRE(ibv_query_port(context, 1, &port) == 0, "port 1");
    for (int i = 0; i < port.gid_tbl_len; ++i) {
        struct ibv_gid_entry entry;
        static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
        if (ibv_query_gid_ex(context, 1, (uint32_t)i, &entry, 0) == 0 &&
            entry.gid_type == IBV_GID_TYPE_ROCE_V2 && memcmp(entry.gid.raw, mapped, sizeof(mapped)) == 0)
            return i;
    }
    return 0;
}

static struct ibv_qp *create_qp(struct data *data, enum ibv_qp_type type)
{
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = type,
        .send_cq = data->send_cq,
        .recv_cq = data->receive_cq,
        .cap = {.max_send_wr = kQueue,
                .max_recv_wr = kQueue,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = kInline},
        .comp_mask = IBV_QP_INIT_ATTR_PD,
        .pd = data->pd,
    };
    if (type == IBV_QPT_XRC_RECV) {
        attr = (struct ibv_qp_init_attr_ex){
            .qp_type = type, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = data->xrcd};
    } else if (type == IBV_QPT_XRC_SEND) {
        attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
        attr.recv_cq = NULL;
    }
    struct ibv_qp *qp = ibv_create_qp_ex(data->context, &attr);
    REQUIRE(qp != NULL, "a QP for %s", data->type_name);
    return qp;
}

static void create_objects(struct data *data, int gid_index)
{
    struct ibv_port_attr port;
    REQUIRE(ibv_query_port(data->context, 1, &port) == 0, "port 1");
    data->mine.mtu = port.active_mtu;
    REQUIRE(ibv_query_gid(data->context, 1, gid_index, &data->mine.gid) == 0, "GID %d", gid_index);
    data->pd = ibv_alloc_pd(data->context);
    data->send_cq = ibv_create_cq(data->context, 2 * kQueue, NULL, NULL, 0);
    data->receive_cq = ibv_create_cq(data->context, 2 * kQueue, NULL, NULL, 0);
    data->memory = aligned_alloc(4096, 2 * (size_t)kRegion);
    REQUIRE(data->pd != NULL && data->send_cq != NULL && data->receive_cq != NULL && data->memory != NULL,
            "set-up");
    data->mr = ibv_reg_mr(data->pd, data->memory, 2 * (size_t)kRegion,
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    REQUIRE(data->mr != NULL, "memory");
    data->mine.rkey = data->mr->rkey;
    data->mine.address = (uintptr_t)data->memory;
    if (data->type == IBV_QPT_XRC_SEND) {
        struct ibv_xrcd_init_attr xrcd = {
            .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
        data->xrcd = ibv_open_xrcd(data->context, &xrcd);
        REQUIRE(data->xrcd != NULL, "an XRC domain");
        struct ibv_srq_init_attr_ex srq = {
            .attr = {.max_wr = kQueue, .max_sge = 1},
            .comp_mask =
                IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
            .srq_type = IBV_SRQT_XRC,
            .pd = data->pd,
            .xrcd = data->xrcd,
            .cq = data->receive_cq,
        };
        data->srq = ibv_create_srq_ex(data->context, &srq);
        REQUIRE(data->srq != NULL && ibv_get_srq_num(data->srq, &data->mine.srqn) == 0, "an SRQ for XRC");
        data->receive_qp = create_qp(data, IBV_QPT_XRC_RECV);
        data->mine.xrc_qpn = data->receive_qp->qp_num;
    }
    data->qp = create_qp(data, data->type);
    if (data->receive_qp == NULL)
        data->receive_qp = data->qp;
    data->mine.qpn = data->qp->qp_num;
}

static void connect_qp(struct data *data, struct ibv_qp *qp, uint32_t remote, int gid_index)
{
    const bool is_ud = qp->qp_type == IBV_QPT_UD, is_reliable = !is_ud && qp->qp_type != IBV_QPT_UC;
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qkey = kQkey,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | (is_reliable ? IBV_ACCESS_REMOTE_READ : 0)};
    int error = ibv_modify_qp(
        qp, &attr,
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
    REQUIRE(error == 0, "INIT: %s", strerror(error));

    const struct ibv_ah_attr path = {
        .is_global = 1,
        .port_num = 1,
        .grh = {.dgid = data->theirs.gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64}};
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = data->mine.mtu < data->theirs.mtu ? data->mine.mtu : data->theirs.mtu,
        .dest_qp_num = remote,
        .rq_psn = kPsn,
        .max_dest_rd_atomic = 8,
        .min_rnr_timer = 1,
        .ah_attr = path,
    };
    int mask = IBV_QP_STATE;
    if (!is_ud)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (is_reliable && qp->qp_type != IBV_QPT_XRC_SEND)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    error = ibv_modify_qp(qp, &attr, mask);
    REQUIRE(error == 0, "RTR: %s", strerror(error));

    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .sq_psn = kPsn,
                                .timeout = (uint8_t)data->timeout,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .max_rd_atomic = 8};
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (is_reliable)
        mask |= IBV_QP_TIMEOUT | (qp->qp_type == IBV_QPT_XRC_RECV
                                      ? 0
                                      : IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
    error = ibv_modify_qp(qp, &attr, mask);
    REQUIRE(error == 0, "RTS: %s", strerror(error));
    if (is_ud) {
        struct ibv_ah_attr to = path;
        data->ah = ibv_create_ah(data->pd, &to);
        REQUIRE(data->ah != NULL, "an address handle");
    }
}

static void destroy_objects(struct data *data)
{
    if (data->ah != NULL)
        REQUIRE(ibv_destroy_ah(data->ah) == 0, "the address handle");
    REQUIRE(ibv_destroy_qp(data->qp) == 0, "the QP");
    if (data->receive_qp != data->qp)
        REQUIRE(ibv_destroy_qp(data->receive_qp) == 0, "the QP that receives");
    if (data->srq != NULL)
        REQUIRE(ibv_destroy_srq(data->srq) == 0 && ibv_close_xrcd(data->xrcd) == 0, "the SRQ and its domain");
    REQUIRE(ibv_dereg_mr(data->mr) == 0, "the region");
    REQUIRE(ibv_destroy_cq(data->send_cq) == 0 && ibv_destroy_cq(data->receive_cq) == 0, "the CQs");
    REQUIRE(ibv_dealloc_pd(data->pd) == 0 && ibv_close_device(data->context) == 0, "the rest");
    free(data->memory);
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

bool poll_within(struct ibv_cq *cq, struct ibv_wc *wc, double seconds)
{
    const double end = now() + seconds;
    do {
        const int count = ibv_poll_cq(cq, 1, wc);
        REQUIRE(count >= 0, "polling");
        if (count == 1) {
            REQUIRE(wc->status == IBV_WC_SUCCESS, "request %llu: %s", (unsigned long long)wc->wr_id,
                    ibv_wc_status_str(wc->status));
            return true;
        }
    } while (now() < end);
    return false;
}

void post_receive(struct data *data, uint64_t id, uint8_t *memory, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = length, .lkey = data->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    const int error =
        data->srq != NULL ? ibv_post_srq_recv(data->srq, &wr, &bad) : ibv_post_recv(data->qp, &wr, &bad);
    REQUIRE(error == 0, "posting a receive: %s", strerror(error));
}

void post_send(struct data *data, struct ibv_send_wr *wr, uint8_t *memory, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = length, .lkey = data->mr->lkey};
    struct ibv_send_wr *bad;
    wr->sg_list = &sge;
    wr->num_sge = 1;
    wr->send_flags |= IBV_SEND_SIGNALED;
    if (data->type == IBV_QPT_UD) {
        wr->wr.ud.ah = data->ah;
        wr->wr.ud.remote_qpn = data->theirs.qpn;
        wr->wr.ud.remote_qkey = kQkey;
    }
    if (data->type == IBV_QPT_XRC_SEND)
        wr->qp_type.xrc.remote_srqn = data->theirs.srqn;
    const int error = ibv_post_send(data->qp, wr, &bad);
    REQUIRE(error == 0, "posting opcode %d: %s", (int)wr->opcode, strerror(error));
}

/* ---- the program --------------------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void usage(int status)
{
    fprintf(status == 0 ? stdout : stderr,
            "usage: verbs_data [OPTION...]         waits for its peer\n"
            "       verbs_data [OPTION...] HOST    connects to it\n"
            "\n"
            "Sends, writes and reads all sizes up to 8 MiB, both ways, and checks every byte of them and "
            "around them.\n"
            "  -d DEVICE   (the first)\n"
            "  -g INDEX    of the GID (the first of an IPv4 address, or 0)\n"
            "  -c TYPE     rc, uc, ud or xrc (rc)\n"
            "  -S MIB      instead, on RC, a stream of so many MiB each way, both at once: SENDs, WRITEs and "
            "READs mixed\n"
            "  -t TIMEOUT  of the QPs, 4.096 us times 2 to its power (14)\n"
            "  -p PORT     of TCP, for the two to meet (18515)\n");
    exit(status);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        enum ibv_qp_type type;
    } types[] = {{"rc", IBV_QPT_RC}, {"uc", IBV_QPT_UC}, {"ud", IBV_QPT_UD}, {"xrc", IBV_QPT_XRC_SEND}};
    struct data data = {.type = IBV_QPT_RC, .type_name = "rc", .timeout = 14};
    const char *device = NULL, *port = "18515";
    int gid_index = -1, option;
    uint64_t stream = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while ((option = getopt(argc, argv, "d:g:c:S:t:p:h")) != -1) {
        switch (option) {
            case 'd':
                device = optarg;
                break;
            case 'g':
                gid_index = atoi(optarg);
                break;
            case 'S':
                stream = strtoull(optarg, NULL, 0) << 20;
                break;
            case 't':
                data.timeout = (uint32_t)atoi(optarg);
                break;
            case 'p':
                port = optarg;
                break;
            case 'c':
                data.type_name = NULL;
                for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i)
                    if (strcmp(types[i].name, optarg) == 0) {
                        data.type = types[i].type;
                        data.type_name = types[i].name;
                    }
                if (data.type_name == NULL)
                    usage(2);
                break;
            case 'h':
                usage(0);
            default:
                usage(2);
        }
    }
    if (argc - optind > 1 || (stream > 0 && data.type != IBV_QPT_RC))
        usage(2);
    data.is_client = optind < argc;
    data.context = open_device(device);
    if (gid_index < 0)
        gid_index = choose_gid(data.context);
    create_objects(&data, gid_index);
    data.peer = connect_to(data.is_client ? argv[optind] : NULL, port);
    tell(data.peer, &data.mine, &data.theirs, sizeof(data.mine));
    if (data.receive_qp != data.qp) {
        connect_qp(&data, data.qp, data.theirs.xrc_qpn, gid_index);
        connect_qp(&data, data.receive_qp, data.theirs.qpn, gid_index);
    } else {
        connect_qp(&data, data.qp, data.theirs.qpn, gid_index);
    }
    meet(data.peer);
    if (stream > 0)
        run_stream(&data, stream);
    else
        run_sizes(&data);
    meet(data.peer);
    destroy_objects(&data);
    close(data.peer);
    return 0;
}
