/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the conformance tests on one device and prints their results in TAP. */
#include "conformance.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct environment env = {.port = 1, .gid_index = -1};

static enum { kPassed, kFailed, kSkipped } result;
static char message[512];

void test_fail(const char *file, int line, const char *format, ...)
{
    if (result == kFailed)
        return; /* the first failure is the one to read */
    const char *base = strrchr(file, '/');
    const int used = snprintf(message, sizeof(message), "%s:%d: ", base != NULL ? base + 1 : file, line);
    va_list args;
    va_start(args, format);
    vsnprintf(message + used, sizeof(message) - (size_t)used, format, args);
    va_end(args);
    result = kFailed;
}

void test_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    result = kSkipped;
}

const char *test_failure(void)
{
    return result == kFailed ? message : NULL;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

char *at(int side, size_t offset)
{
    return env.memory + (size_t)side * kSideSize + offset;
}

uint64_t address(const void *pointer)
{
    return (uintptr_t)pointer;
}

struct ibv_sge sge_of(const void *pointer, uint32_t length)
{
    return (struct ibv_sge){.addr = address(pointer), .length = length, .lkey = env.mr->lkey};
}

void fill(void *memory, size_t length, unsigned seed)
{
    unsigned char *bytes = memory;
    for (size_t i = 0; i < length; ++i)
        bytes[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8));
}

bool filled(const void *memory, size_t length, unsigned seed)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < length; ++i)
        if (bytes[i] != (unsigned char)(seed * 31 + i * 7 + (i >> 8)))
            return false;
    return true;
}

bool all_bytes(const void *memory, size_t length, int value)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < length; ++i)
        if (bytes[i] != (unsigned char)value)
            return false;
    return true;
}

/* ---- QPs --------------------------------------------------------------------------------------------------------- */

static const int kAllRemote = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

int qp_to_init(struct ibv_qp *qp, int access)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = env.port, .qkey = 0x1234};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    if (qp->qp_type == IBV_QPT_UD) {
        mask |= IBV_QP_QKEY;
    } else {
        mask |= IBV_QP_ACCESS_FLAGS;
        attr.qp_access_flags = (unsigned int)access;
    }
    return ibv_modify_qp(qp, &attr, mask);
}

static struct ibv_ah_attr path_to_self(void)
{
    return (struct ibv_ah_attr){
        .is_global = 1,
        .port_num = env.port,
        .grh = {.dgid = env.gid, .sgid_index = (uint8_t)env.gid_index, .hop_limit = 64},
    };
}

struct ibv_ah *ah_to_self(void)
{
    struct ibv_ah_attr attr = path_to_self();
    return ibv_create_ah(env.pd, &attr);
}

int qp_to_rtr(struct ibv_qp *qp, uint32_t remote_qpn)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = remote_qpn,
        .rq_psn = 100,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = 1,
        .ah_attr = path_to_self(),
    };
    int mask = IBV_QP_STATE;
    if (qp->qp_type != IBV_QPT_UD)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (qp->qp_type == IBV_QPT_RC)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return ibv_modify_qp(qp, &attr, mask);
}

int qp_to_rts(struct ibv_qp *qp, uint8_t rnr_retry)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS,
        .sq_psn = 100,
        .timeout = 14,
        .retry_cnt = 6, /* 7 is without end on some devices */
        .rnr_retry = rnr_retry,
        .max_rd_atomic = 4,
    };
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (qp->qp_type == IBV_QPT_RC)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp, &attr, mask);
}

int qp_to_error(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value != 0 ? value : fallback;
}

bool pair_open(struct pair *pair, const struct pair_options *options)
{
    *pair = (struct pair){0};
    for (int side = 0; side < 2; ++side) {
        pair->cq[side] = ibv_create_cq(env.context, 255, NULL, side == 1 ? options->channel : NULL, 0);
        struct ibv_qp_init_attr_ex attr = {
            .send_cq = pair->cq[side],
            .recv_cq = pair->cq[side],
            .srq = side == 1 ? options->srq : NULL,
            .cap =
                {
                    .max_send_wr = or_default(options->send_wr, 16),
                    .max_recv_wr = or_default(options->recv_wr, 16),
                    .max_send_sge = or_default(options->sge, 4),
                    .max_recv_sge = or_default(options->sge, 4),
                    .max_inline_data = or_default(options->inline_data, 64),
                },
            .qp_type = options->type != 0 ? options->type : IBV_QPT_RC,
            .sq_sig_all = options->sq_sig_all,
            .comp_mask = IBV_QP_INIT_ATTR_PD,
            .pd = env.pd,
        };
        if (options->send_ops != 0) {
            attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
            attr.send_ops_flags = options->send_ops;
        }
        if (pair->cq[side] != NULL)
            pair->qp[side] = ibv_create_qp_ex(env.context, &attr);
        if (pair->qp[side] == NULL) {
            test_fail(__FILE__, __LINE__, "no QP: %s", strerror(errno));
            return false;
        }
    }
    memset(env.memory, 0, 2 * (size_t)kSideSize);
    return options->unconnected || pair_connect(pair, options);
}

bool pair_connect(struct pair *pair, const struct pair_options *options)
{
    const uint8_t rnr_retry = options->rnr_retry == 0 ? 7 : options->rnr_retry & 7;
    for (int side = 0; side < 2; ++side) {
        int error = qp_to_init(pair->qp[side], options->few_rights ? 0 : kAllRemote);
        if (error == 0 && !env.iwarp)
            error = qp_to_rtr(pair->qp[side], pair->qp[1 - side]->qp_num);
        if (error == 0 && !env.iwarp)
            error = qp_to_rts(pair->qp[side], rnr_retry);
        if (error != 0) {
            test_fail(__FILE__, __LINE__, "QP not ready: %s", strerror(error));
            return false;
        }
    }
    if (env.iwarp)
        pair->connection = iwarp_connect(pair->qp[0]->qp_num, pair->qp[1]->qp_num);
    return !env.iwarp || pair->connection != NULL;
}

void pair_close(struct pair *pair)
{
    for (int side = 0; side < 2; ++side) {
        int error = pair->qp[side] != NULL ? ibv_destroy_qp(pair->qp[side]) : 0;
        if (error == 0 && pair->cq[side] != NULL)
            error = ibv_destroy_cq(pair->cq[side]);
        if (error != 0 && result == kPassed)
            test_fail(__FILE__, __LINE__, "destroying side %d: %s", side, strerror(error));
    }
    iwarp_disconnect(pair->connection);
}

int post_recv(struct ibv_qp *qp, uint64_t wr_id, void *memory, uint32_t length)
{
    struct ibv_sge sge = sge_of(memory, length);
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    return ibv_post_recv(qp, &wr, &bad);
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, void *memory, uint32_t length)
{
    struct ibv_sge sge = sge_of(memory, length);
    struct ibv_send_wr *bad = NULL;
    if (wr->sg_list == NULL && memory != NULL) {
        wr->sg_list = &sge;
        wr->num_sge = 1;
    }
    wr->send_flags |= IBV_SEND_SIGNALED;
    const int error = ibv_post_send(qp, wr, &bad);
    if (wr->sg_list == &sge)
        wr->sg_list = NULL;
    return error;
}

struct ibv_send_wr rdma_wr(enum ibv_wr_opcode opcode, const void *remote, uint32_t rkey)
{
    struct ibv_send_wr wr = {.opcode = opcode};
    wr.wr.rdma.remote_addr = address(remote);
    wr.wr.rdma.rkey = rkey;
    return wr;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool wait_for(struct ibv_cq *cq, struct ibv_wc *wc, double seconds)
{
    const double end = now() + seconds;
    do {
        memset(wc, 0xa5, sizeof(*wc));
        if (ibv_poll_cq(cq, 1, wc) == 1)
            return true;
    } while (now() < end);
    return false;
}

bool wait_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
    return wait_for(cq, wc, 10);
}

bool quiet(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    return !wait_for(cq, &wc, 0.15);
}

/* ---- the program ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const struct test *tests;
} suites[] = {
    {"rc", rc_tests},           {"datagram", datagram_tests},
    {"srq", srq_tests},         {"mw", mw_tests},
    {"wr", wr_tests},           {"cq", cq_tests},
    {"event", event_tests},     {"protection", protection_tests},
    {"failure", failure_tests}, {"post", post_tests},
    {"object", object_tests},   {"import", import_tests},
    {"domain", domain_tests},   {"memory", memory_tests},
    {"iwarp", iwarp_tests},     {"raw", raw_tests},
    {"wq", wq_tests},           {"comp_cntr", comp_cntr_tests},
    {"tag", tag_tests},
};

static int open_device(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_device *device = NULL;
    for (int i = 0; list != NULL && list[i] != NULL && device == NULL; ++i)
        if (name == NULL || strcmp(ibv_get_device_name(list[i]), name) == 0)
            device = list[i];
    if (device == NULL) {
        fprintf(stderr, "conformance: no RDMA device %s; ibv_devices lists what there is\n",
                name ? name : "at all");
        return -1;
    }
    env.iwarp = device->transport_type == IBV_TRANSPORT_IWARP;
    env.context = ibv_open_device(device);
    ibv_free_device_list(list);
    const int access = IBV_ACCESS_LOCAL_WRITE | kAllRemote | IBV_ACCESS_MW_BIND;
    if (env.context == NULL || (env.pd = ibv_alloc_pd(env.context)) == NULL ||
        posix_memalign((void **)&env.memory, 4096, 2 * (size_t)kSideSize) != 0 ||
        (env.mr = ibv_reg_mr(env.pd, env.memory, 2 * (size_t)kSideSize, access)) == NULL ||
        ibv_query_device(env.context, &env.device) != 0) {
        fprintf(stderr, "conformance: setting up the device: %s\n", strerror(errno));
        return -1;
    }
    if (env.iwarp)
        return 0;
    /* RoCE needs an address to send to; IPv4 ones look like ::ffff:a.b.c.d. */
    for (int i = 0; env.gid_index < 0 && i < 16; ++i)
        if (ibv_query_gid(env.context, env.port, i, &env.gid) == 0 && env.gid.raw[10] == 0xff &&
            env.gid.raw[11] == 0xff)
            env.gid_index = i;
    if (env.gid_index < 0 || ibv_query_gid(env.context, env.port, env.gid_index, &env.gid) != 0) {
        fprintf(stderr, "conformance: the port has no such GID; give its network device an IPv4 address\n");
        return -1;
    }
    return 0;
}

static const char kHelp[] =
    "Usage: conformance [options]\n"
    "Runs verbs over loopback on one device and prints TAP; the exit status is 0 if no test failed.\n\n"
    "  -d, --device NAME   the device to use (default: the first)\n"
    "  -g, --gid INDEX     the GID to use (default: the first of an IPv4 address)\n"
    "  -t, --test PREFIX   only tests whose names start with PREFIX, e.g. rc. or mw.type2\n"
    "  -s, --strict        also what release 44.0 of the reference library does not give\n"
    "  -h, --help          this text\n";

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'}, {"gid", required_argument, NULL, 'g'},
        {"test", required_argument, NULL, 't'},   {"strict", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    const char *device = NULL, *prefix = "";
    bool strict = false;
    if (argc == 3 && strcmp(argv[1], "--importer") == 0)
        return import_main(atoi(argv[2]));
    for (int option; (option = getopt_long(argc, argv, "d:g:t:sh", options, NULL)) != -1;) {
        switch (option) {
            case 'd':
                device = optarg;
                break;
            case 'g':
                env.gid_index = atoi(optarg);
                break;
            case 't':
                prefix = optarg;
                break;
            case 's':
                strict = true;
                break;
            case 'h':
                fputs(kHelp, stdout);
                return 0;
            default:
                fputs(kHelp, stderr);
                return 2;
        }
    }
    if (open_device(device) != 0)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int count = 0, failed = 0;
    for (size_t suite = 0; suite < sizeof(suites) / sizeof(*suites); ++suite) {
        for (const struct test *test = suites[suite].tests; test->name != NULL; ++test) {
            char name[128];
            snprintf(name, sizeof(name), "%s.%s", suites[suite].name, test->name);
            if (strncmp(name, prefix, strlen(prefix)) != 0 || (test->strict && !strict))
                continue;
            const char *reason = not_for_device(name);
            if (reason != NULL) {
                printf("# left out: %s: %s\n", name, reason);
                continue;
            }
            result = kPassed;
            test->run();
            ++count;
            failed += result == kFailed;
            if (result == kFailed)
                printf("not ok %d - %s\n# %s\n", count, name, message);
            else if (result == kSkipped)
                printf("ok %d - %s # SKIP %s\n", count, name, message);
            else
                printf("ok %d - %s\n", count, name);
        }
    }
    printf("1..%d\n", count);
    const int error = ibv_dereg_mr(env.mr);
    const int pd_error = ibv_dealloc_pd(env.pd);
    if (failed == 0 && (error != 0 || pd_error != 0 || ibv_close_device(env.context) != 0)) {
        printf("Bail out! closing the device failed: %s\n", strerror(error != 0 ? error : pd_error));
        return 1;
    }
    free(env.memory);
    return failed != 0 || count == 0;
}
