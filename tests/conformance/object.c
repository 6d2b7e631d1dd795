/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and destroying objects: limits, what is in use, and operations that the device does not have. */
#include <errno.h>
#include <string.h>

#include "conformance.h"

static void in_use(void)
{
    struct ibv_pd *pd = ibv_alloc_pd(env.context);
    struct ibv_cq *cq = ibv_create_cq(env.context, 1, NULL, NULL, 0);
    CHECK(pd != NULL && cq != NULL);
    struct ibv_mr *mr = ibv_reg_mr(pd, at(0, 0), 10, 0);
    CHECK_MADE(mr, ibv_reg_mr);
    CHECK(mr->addr == at(0, 0) && mr->length == 10 && mr->pd == pd);
    CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq, .recv_cq = cq, .cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    CHECK_MADE(qp, ibv_create_qp);
    CHECK(qp->pd == pd && qp->send_cq == cq && qp->recv_cq == cq && qp->qp_type == IBV_QPT_RC);
    CHECK_EQ(qp->state, IBV_QPS_RESET);
    CHECK(attr.cap.max_send_wr >= 1 && attr.cap.max_recv_sge >= 1);
    CHECK_EQ(ibv_destroy_cq(cq), EBUSY);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

static void qp_limits(void)
{
    struct ibv_cq *cq = ibv_create_cq(env.context, 1, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    const struct ibv_qp_cap good = {1, 1, 1, 1, 0};
    for (int i = 0; i < 5; ++i) {
        struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .cap = good, .qp_type = IBV_QPT_RC};
        if (i == 0)
            attr.cap.max_send_wr = (uint32_t)env.device.max_qp_wr + 1;
        if (i == 1)
            attr.cap.max_recv_wr = (uint32_t)env.device.max_qp_wr + 1;
        if (i == 2)
            attr.cap.max_send_sge = (uint32_t)env.device.max_sge + 1;
        if (i == 3)
            attr.cap.max_recv_sge = (uint32_t)env.device.max_sge + 1;
        if (i == 4)
            attr.cap.max_inline_data = 1u << 20;
        errno = 0;
        CHECK(ibv_create_qp(env.pd, &attr) == NULL);
        CHECK_EQ(errno, EINVAL);
    }
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .cap = good, .qp_type = IBV_QPT_RAW_PACKET};
    if (env.device.max_raw_ethy_qp == 0) {
        errno = 0;
        CHECK(ibv_create_qp(env.pd, &attr) == NULL);
        CHECK(errno == EOPNOTSUPP || errno == EPERM);
    }
    struct ibv_qp_init_attr_ex flags = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = good,
        .qp_type = IBV_QPT_RC,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
        .pd = env.pd,
        .create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
    };
    errno = 0;
    CHECK(ibv_create_qp_ex(env.context, &flags) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
}

static void qp_states(void)
{
    struct pair pair;
    OPEN(&pair, .unconnected = true);
    CHECK_EQ(qp_to_rts(pair.qp[0], 7), EINVAL); /* RESET goes to INIT first */
    CHECK_EQ(pair.qp[0]->state, IBV_QPS_RESET);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 200};
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
             EINVAL);
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE), EINVAL);
    CHECK_EQ(qp_to_init(pair.qp[0], 0), 0);
    CHECK_EQ(pair.qp[0]->state, IBV_QPS_INIT);
    CHECK(ibv_qp_to_qp_ex(pair.qp[0]) == NULL);
    pair_close(&pair);
}

static void mr_refused(void)
{
    static char read_only_page[1];
    errno = 0;
    CHECK(ibv_reg_mr(env.pd, read_only_page, 1, IBV_ACCESS_REMOTE_WRITE) == NULL); /* without LOCAL_WRITE */
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    CHECK(ibv_reg_mr(env.pd, NULL, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL);
    CHECK_EQ(errno, EFAULT);
}

/* What not all devices have says so where it is lacking. */
static void optional(void)
{
    errno = 0;
    struct ibv_mr *null = ibv_alloc_null_mr(env.pd);
    if (null != NULL) {
        CHECK(null->addr == NULL && null->length == SIZE_MAX && null->rkey == 0);
        CHECK(null->pd == env.pd && null->context == env.context);
        CHECK_EQ(ibv_dereg_mr(null), 0);
    } else {
        CHECK_EQ(errno, EOPNOTSUPP);
    }
    struct ibv_alloc_dm_attr dm = {.length = 4096};
    errno = 0;
    struct ibv_dm *memory = ibv_alloc_dm(env.context, &dm);
    if (memory != NULL)
        CHECK_EQ(ibv_free_dm(memory), 0);
    else
        CHECK_EQ(errno, EOPNOTSUPP);
    struct ibv_cq *cq = ibv_create_cq(env.context, 1, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    struct ibv_modify_cq_attr modify = {.attr_mask = IBV_CQ_ATTR_MODERATE};
    const int error = ibv_modify_cq(cq, &modify);
    CHECK(error == 0 || error == EOPNOTSUPP);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
}

static void device(void)
{
    struct ibv_device_attr_ex attr;
    struct ibv_port_attr port;
    CHECK_EQ(ibv_query_device_ex(env.context, NULL, &attr), 0);
    CHECK(memcmp(&attr.orig_attr, &env.device, sizeof(env.device)) == 0);
    CHECK_EQ(attr.phys_port_cnt_ex, env.device.phys_port_cnt);
    CHECK(env.device.fw_ver[0] != 0 && memchr(env.device.fw_ver, 0, sizeof(env.device.fw_ver)) != NULL);
    CHECK_EQ(ibv_query_port(env.context, env.port, &port), 0);
    CHECK_EQ(port.state, IBV_PORT_ACTIVE);
    CHECK(ibv_query_port(env.context, 0, &port) != 0);
    CHECK(ibv_query_port(env.context, 200, &port) != 0);
}

const struct test object_tests[] = {
    {"in_use", in_use, false},
    {"qp_limits", qp_limits, false},
    {"qp_states", qp_states, false},
    {"mr_refused", mr_refused, false},
    {"optional", optional, false},
    {"device", device, false},
    {NULL, NULL, false},
};
