/* SPDX-License-Identifier: BSD-2-Clause */
/* What the conformance cases share: memory, QPs in pairs, requests and completions. */
#include "conformance.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
    for (size_t i = 0; i < length; ++i) {
        const unsigned char expected = (unsigned char)(seed * 31 + i * 7 + (i >> 8));
        if (bytes[i] != expected) {
            test_note("byte %zu of %zu is 0x%02x, not 0x%02x", i, length, bytes[i], expected);
            return false;
        }
    }
    return true;
}

bool all_bytes(const void *memory, size_t length, int value)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < length; ++i)
        if (bytes[i] != (unsigned char)value) {
            test_note("byte %zu of %zu is 0x%02x, not 0x%02x", i, length, bytes[i], (unsigned)value & 0xff);
            return false;
        }
    return true;
}

/* ---- QPs --------------------------------------------------------------------------------------------------------- */

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
        .dlid = env.lid,
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
        if (pair->cq[side] == NULL) {
            test_fail(__FILE__, __LINE__,
                      "ibv_create_cq: expected an object of 255 entries, saw errno %d (%s)", errno,
                      strerror(errno));
            return false;
        }
        pair->qp[side] = ibv_create_qp_ex(env.context, &attr);
        if (pair->qp[side] == NULL) {
            char call[64];
            snprintf(call, sizeof(call), "ibv_create_qp_ex of type %d%s", (int)attr.qp_type,
                     options->send_ops != 0 ? " with send operations" : "");
            if (!test_not_offered(call))
                test_fail(__FILE__, __LINE__, "%s: expected an object, saw errno %d (%s)", call, errno,
                          strerror(errno));
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
        const char *state = "INIT";
        int error = qp_to_init(pair->qp[side], options->few_rights ? 0 : kAllRemote);
        if (error == 0 && !env.iwarp) {
            state = "RTR";
            error = qp_to_rtr(pair->qp[side], pair->qp[1 - side]->qp_num);
        }
        if (error == 0 && !env.iwarp) {
            state = "RTS";
            error = qp_to_rts(pair->qp[side], rnr_retry);
        }
        if (error != 0) {
            test_fail(__FILE__, __LINE__, "ibv_modify_qp to %s: expected 0, saw %d (%s)", state, error,
                      strerror(error));
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
        const char *call = "ibv_destroy_qp";
        int error = pair->qp[side] != NULL ? ibv_destroy_qp(pair->qp[side]) : 0;
        if (error == 0 && pair->cq[side] != NULL) {
            call = "ibv_destroy_cq";
            error = ibv_destroy_cq(pair->cq[side]);
        }
        if (error != 0)
            test_fail(__FILE__, __LINE__, "%s of side %d: expected 0, saw %d (%s)", call, side, error,
                      strerror(error));
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
    if (wait_for(cq, wc, 10))
        return true;
    test_note("no completion in 10 s");
    return false;
}

bool quiet(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    if (!wait_for(cq, &wc, 0.15))
        return true;
    test_note("a completion of wr_id %llu, status %d (%s)", (unsigned long long)wc.wr_id, (int)wc.status,
              ibv_wc_status_str(wc.status));
    return false;
}
