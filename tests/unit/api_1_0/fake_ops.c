/* SPDX-License-Identifier: BSD-2-Clause */
/* Ops that print what reaches them, and fail with the errno value in fake_failure. Objects go by their handles. */
#include "fake_ops.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The program's. */
extern int fake_failure;

static uint32_t last_handle = 0x100;

static int outcome(void)
{
    int error = fake_failure;
    fake_failure = 0;
    return error;
}

static void *new_object(size_t size)
{
    int error = outcome();
    errno = error;
    return error == 0 ? calloc(1, size) : NULL;
}

struct ibv_pd *fake_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = new_object(sizeof *pd);
    printf("  op alloc_pd\n");
    if (pd != NULL) {
        pd->context = context;
        pd->handle = ++last_handle;
    }
    return pd;
}

int fake_dealloc_pd(struct ibv_pd *pd)
{
    printf("  op dealloc_pd(pd %x)\n", pd->handle);
    int error = outcome();
    if (error == 0)
        free(pd);
    return error;
}

struct ibv_mr *fake_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    struct {
        struct ibv_mr mr;
        uint64_t behind[2]; /* a provider of this ABI has a verbs_mr */
    } *block = new_object(sizeof *block);
    printf("  op reg_mr(pd %x, %zu bytes, iova is addr: %d, access %x)\n", pd->handle, length,
           iova == (uintptr_t)addr, (unsigned)access);
    if (block == NULL)
        return NULL;
    block->mr.context = pd->context;
    block->mr.pd = pd;
    block->mr.addr = addr;
    block->mr.length = length;
    block->mr.handle = ++last_handle;
    block->mr.lkey = 0x1111;
    block->mr.rkey = 0x2222;
    return &block->mr;
}

int fake_dereg_mr(struct verbs_mr *vmr)
{
    struct ibv_mr *mr = (struct ibv_mr *)vmr;
    printf("  op dereg_mr(mr %x)\n", mr->handle);
    int error = outcome();
    if (error == 0)
        free(mr);
    return error;
}

struct ibv_cq *fake_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
                              int comp_vector)
{
    struct ibv_cq *cq = new_object(sizeof *cq);
    printf("  op create_cq(%d entries, channel: %d, vector %d)\n", cqe, channel != NULL, comp_vector);
    if (cq == NULL)
        return NULL;
    cq->context = context;
    cq->handle = ++last_handle;
    cq->cqe = cqe + 1;
    return cq;
}

int fake_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
    printf("  op poll_cq(cq %x, %d)\n", cq->handle, num_entries);
    if (num_entries > 0)
        *wc = (struct ibv_wc){.wr_id = 77, .status = IBV_WC_SUCCESS, .byte_len = 5};
    return num_entries;
}

int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    printf("  op req_notify_cq(cq %x, %d)\n", cq->handle, solicited_only);
    return outcome();
}

void fake_cq_event(struct ibv_cq *cq)
{
    printf("  op cq_event(cq %x)\n", cq->handle);
}

int fake_resize_cq(struct ibv_cq *cq, int cqe)
{
    printf("  op resize_cq(cq %x, %d)\n", cq->handle, cqe);
    int error = outcome();
    if (error == 0)
        cq->cqe = cqe + 1;
    return error;
}

int fake_destroy_cq(struct ibv_cq *cq)
{
    printf("  op destroy_cq(cq %x, %u events, %u asynchronous)\n", cq->handle, cq->comp_events_completed,
           cq->async_events_completed);
    int error = outcome();
    if (error == 0)
        free(cq);
    return error;
}

struct ibv_srq *fake_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct ibv_srq *srq = new_object(sizeof *srq);
    printf("  op create_srq(pd %x, %u requests, %u sges, limit %u)\n", pd->handle, attr->attr.max_wr,
           attr->attr.max_sge, attr->attr.srq_limit);
    if (srq == NULL)
        return NULL;
    srq->context = pd->context;
    srq->srq_context = attr->srq_context;
    srq->pd = pd;
    srq->handle = ++last_handle;
    pthread_mutex_init(&srq->mutex, NULL);
    pthread_cond_init(&srq->cond, NULL);
    attr->attr.max_wr += 3;
    return srq;
}

int fake_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    printf("  op modify_srq(srq %x, limit %u, mask %x)\n", srq->handle, attr->srq_limit, (unsigned)mask);
    return outcome();
}

int fake_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    printf("  op query_srq(srq %x)\n", srq->handle);
    *attr = (struct ibv_srq_attr){.max_wr = 11, .max_sge = 2, .srq_limit = 5};
    return outcome();
}

int fake_destroy_srq(struct ibv_srq *srq)
{
    printf("  op destroy_srq(srq %x, %u events)\n", srq->handle, srq->events_completed);
    int error = outcome();
    if (error == 0)
        free(srq);
    return error;
}

static int print_recv(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    for (; wr != NULL; wr = wr->next) {
        printf("    wr %llx, %d sges", (unsigned long long)wr->wr_id, wr->num_sge);
        for (int i = 0; i < wr->num_sge; ++i)
            printf(" %llx:%u:%x", (unsigned long long)wr->sg_list[i].addr, wr->sg_list[i].length,
                   wr->sg_list[i].lkey);
        printf("\n");
        if (wr->wr_id == 0xbad) {
            *bad_wr = wr;
            return ENOMEM;
        }
    }
    return outcome();
}

int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    printf("  op post_srq_recv(srq %x)\n", srq->handle);
    return print_recv(wr, bad_wr);
}

int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    printf("  op post_recv(qp %x)\n", qp->handle);
    return print_recv(wr, bad_wr);
}

static void print_send(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
    printf("    wr %llx, opcode %d, flags %x, imm %x, %d sges", (unsigned long long)wr->wr_id,
           (int)wr->opcode, wr->send_flags, wr->imm_data, wr->num_sge);
    for (int i = 0; i < wr->num_sge; ++i)
        printf(" %llx:%u:%x", (unsigned long long)wr->sg_list[i].addr, wr->sg_list[i].length,
               wr->sg_list[i].lkey);
    if (qp->qp_type == IBV_QPT_UD)
        printf(", ah %x, qpn %x, qkey %x", wr->wr.ud.ah->handle, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
    else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        printf(", at %llx:%x, operands %llx %llx", (unsigned long long)wr->wr.atomic.remote_addr,
               wr->wr.atomic.rkey, (unsigned long long)wr->wr.atomic.compare_add,
               (unsigned long long)wr->wr.atomic.swap);
    else if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
        printf(", at %llx:%x", (unsigned long long)wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
    printf("\n");
}

int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    printf("  op post_send(qp %x)\n", qp->handle);
    for (; wr != NULL; wr = wr->next) {
        print_send(qp, wr);
        if (wr->wr_id == 0xbad) {
            *bad_wr = wr;
            return ENOMEM;
        }
    }
    return outcome();
}

static uint32_t handle_of_cq(const struct ibv_cq *cq)
{
    return cq != NULL ? cq->handle : 0;
}

struct ibv_qp *fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp *qp = new_object(sizeof *qp);
    printf("  op create_qp(pd %x, cqs %x %x, srq %x, type %d, signal all %d, cap %u %u %u %u %u)\n",
           pd->handle, handle_of_cq(attr->send_cq), handle_of_cq(attr->recv_cq),
           attr->srq != NULL ? attr->srq->handle : 0, (int)attr->qp_type, attr->sq_sig_all,
           attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge, attr->cap.max_recv_sge,
           attr->cap.max_inline_data);
    if (qp == NULL)
        return NULL;
    qp->context = pd->context;
    qp->qp_context = attr->qp_context;
    qp->pd = pd;
    qp->send_cq = attr->send_cq;
    qp->recv_cq = attr->recv_cq;
    qp->srq = attr->srq;
    qp->handle = ++last_handle;
    qp->qp_num = 0x7000 + qp->handle;
    qp->state = IBV_QPS_RESET;
    qp->qp_type = attr->qp_type;
    pthread_mutex_init(&qp->mutex, NULL);
    pthread_cond_init(&qp->cond, NULL);
    attr->cap.max_send_wr += 100;
    attr->cap.max_inline_data += 4;
    return qp;
}

int fake_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
    printf("  op query_qp(qp %x, mask %x)\n", qp->handle, (unsigned)mask);
    memset(attr, 0, sizeof *attr);
    attr->qp_state = IBV_QPS_RTS;
    attr->qkey = 0x1234;
    *init_attr = (struct ibv_qp_init_attr){.qp_context = qp->qp_context,
                                           .send_cq = qp->send_cq,
                                           .recv_cq = qp->recv_cq,
                                           .srq = qp->srq,
                                           .cap = {.max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 3},
                                           .qp_type = qp->qp_type,
                                           .sq_sig_all = 1};
    return outcome();
}

int fake_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    printf("  op modify_qp(qp %x, state %d, mask %x)\n", qp->handle, (int)attr->qp_state, (unsigned)mask);
    return outcome();
}

int fake_destroy_qp(struct ibv_qp *qp)
{
    printf("  op destroy_qp(qp %x, %u events)\n", qp->handle, qp->events_completed);
    int error = outcome();
    if (error == 0)
        free(qp);
    return error;
}

struct ibv_ah *fake_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct ibv_ah *ah = new_object(sizeof *ah);
    printf("  op create_ah(pd %x, lid %u, port %u)\n", pd->handle, attr->dlid, attr->port_num);
    if (ah != NULL)
        ah->handle = ++last_handle;
    return ah;
}

int fake_destroy_ah(struct ibv_ah *ah)
{
    printf("  op destroy_ah(ah %x)\n", ah->handle);
    int error = outcome();
    if (error == 0)
        free(ah);
    return error;
}

int fake_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    printf("  op attach_mcast(qp %x, gid %02x.., lid %x)\n", qp->handle, gid->raw[0], lid);
    return outcome();
}

int fake_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    printf("  op detach_mcast(qp %x, gid %02x.., lid %x)\n", qp->handle, gid->raw[0], lid);
    return outcome();
}

void fake_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    (void)context;
    printf("  op async_event(%d)\n", (int)event->event_type);
}

int fake_query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                      struct ibv_device_attr_ex *attr, size_t size)
{
    (void)context;
    printf("  op query_device(input: %d, %zu bytes)\n", input != NULL, size);
    memset(attr, 0, size);
    attr->orig_attr.max_qp = 321;
    attr->orig_attr.phys_port_cnt = 1;
    return outcome();
}

/* The caller's structure has the 52 bytes of this release. */
int fake_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
    (void)context;
    printf("  op query_port(%u)\n", port_num);
    memset(attr, 0x5a, 52);
    return outcome();
}
