/* SPDX-License-Identifier: BSD-2-Clause */
/* Parent and thread domains, and queues that are made in them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

static int allocations, frees;
static int pd_context;
static bool wrong_arguments;

static void *take(struct ibv_pd *pd, void *context, size_t size, size_t alignment, uint64_t type)
{
    (void)type;
    ++allocations;
    if (pd == NULL || context != &pd_context || size == 0)
        wrong_arguments = true;
    void *memory = NULL;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) == 0
               ? memory
               : NULL;
}

static void give(struct ibv_pd *pd, void *context, void *memory, uint64_t type)
{
    (void)type;
    ++frees;
    if (pd == NULL || context != &pd_context)
        wrong_arguments = true;
    free(memory);
}

/* Sends a message from a QP in `pd` to itself, with completions in an extended CQ of that domain. */
static void send_in(struct ibv_pd *pd)
{
    struct ibv_cq_init_attr_ex cq_attr = {
        .cqe = 16,
        .wc_flags = IBV_WC_STANDARD_FLAGS,
        .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
        .parent_domain = pd,
    };
    struct ibv_cq_ex *cq = ibv_create_cq_ex(env.context, &cq_attr);
    CHECK_OFFERED(cq, ibv_create_cq_ex);
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &srq_attr);
    CHECK_OFFERED(srq, ibv_create_srq);
    struct ibv_qp_init_attr attr = {
        .send_cq = ibv_cq_ex_to_cq(cq),
        .recv_cq = ibv_cq_ex_to_cq(cq),
        .srq = srq,
        .cap = {4, 0, 1, 0, 0},
        .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    CHECK_MADE(qp, ibv_create_qp);
    CHECK(qp->pd == pd);
    CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
    CHECK_EQ(qp_to_init(qp, 0), 0);
    CHECK_EQ(qp_to_rtr(qp, qp->qp_num), 0);
    CHECK_EQ(qp_to_rts(qp, 7), 0);

    /* What is registered in the domain behind it can be used, and the other way round. */
    struct ibv_mr *mr = ibv_reg_mr(pd, at(1, 0), 1000, IBV_ACCESS_LOCAL_WRITE);
    CHECK_MADE(mr, ibv_reg_mr);
    CHECK(mr->pd == pd);
    memset(env.memory, 0, 2 * (size_t)kSideSize);
    fill(at(0, 0), 1000, 7);
    struct ibv_sge sge = {.addr = address(at(1, 0)), .length = 1000, .lkey = mr->lkey};
    struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    CHECK_EQ(ibv_post_srq_recv(srq, &recv, &bad), 0);
    struct ibv_send_wr wr = {.wr_id = 2, .opcode = IBV_WR_SEND};
    CHECK_EQ(post_send(qp, &wr, at(0, 0), 1000), 0);
    int seen = 0;
    for (long i = 0; seen != 3 && i < 100000000; ++i) {
        struct ibv_poll_cq_attr poll = {0};
        if (ibv_start_poll(cq, &poll) != 0)
            continue;
        CHECK_EQ(cq->status, IBV_WC_SUCCESS);
        CHECK_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
        seen |= (int)cq->wr_id;
        ibv_end_poll(cq);
    }
    CHECK_EQ(seen, 3);
    CHECK(filled(at(1, 0), 1000, 7));
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static void parent(void)
{
    struct ibv_pd *pd = ibv_alloc_pd(env.context);
    CHECK_MADE(pd, ibv_alloc_pd);
    struct ibv_parent_domain_init_attr attr = {.pd = pd};
    struct ibv_pd *parent = ibv_alloc_parent_domain(env.context, &attr);
    CHECK_OFFERED(parent, ibv_alloc_parent_domain);
    CHECK(parent != pd && parent->context == env.context);
    CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
    CHECK_EQ(ibv_dealloc_pd(parent), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    attr.pd = NULL;
    errno = 0;
    CHECK(ibv_alloc_parent_domain(env.context, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
}

static void thread(void)
{
    struct ibv_td_init_attr td_attr = {0};
    struct ibv_td *td = ibv_alloc_td(env.context, &td_attr);
    CHECK_OFFERED(td, ibv_alloc_td);
    struct ibv_parent_domain_init_attr attr = {.pd = env.pd, .td = td};
    struct ibv_pd *parent = ibv_alloc_parent_domain(env.context, &attr);
    CHECK_OFFERED(parent, ibv_alloc_parent_domain);
    CHECK_EQ(ibv_dealloc_td(td), EBUSY);
    send_in(parent);
    CHECK_EQ(ibv_dealloc_pd(parent), 0);
    CHECK_EQ(ibv_dealloc_td(td), 0);
}

static void allocators(void)
{
    struct ibv_parent_domain_init_attr attr = {
        .pd = env.pd,
        .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
        .alloc = take,
        .free = give,
        .pd_context = &pd_context,
    };
    allocations = frees = 0;
    wrong_arguments = false;
    struct ibv_pd *parent = ibv_alloc_parent_domain(env.context, &attr);
    CHECK_OFFERED(parent, ibv_alloc_parent_domain);
    send_in(parent);
    CHECK(allocations > 0);
    CHECK_EQ(frees, allocations);
    CHECK(!wrong_arguments);
    CHECK_EQ(ibv_dealloc_pd(parent), 0);
}

const struct test domain_tests[] = {
    {"parent", parent, true},
    {"thread", thread, true},
    {"allocators", allocators, true},
    {NULL, NULL, false},
};
