/* SPDX-License-Identifier: BSD-2-Clause */
/* What the data path of rxe costs: posting and polling, in both forms. The program plays the driver's part: it puts
 * completions into the queue's memory, which it sees being mapped. */
#include <dlfcn.h>
#include <rdma/rdma_user_rxe.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

enum { kDepth = 512, kBatch = 16 };

static struct ibv_pd *pd;
static struct ibv_qp *qp;
static struct ibv_qp_ex *qp_ex;
static struct ibv_cq *cq;
static struct ibv_cq_ex *cq_ex;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static char buffer[4096];

/* The ring that was mapped last. */
static struct rxe_queue_buf *last_ring;

/* In front of libc's, for the provider, under the two names that libc has for it. */
__attribute__((visibility("default"))) void *mmap(void *addr, size_t length, int protection, int flags,
                                                  int fd, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "mmap");
    void *mapped = next(addr, length, protection, flags, fd, offset);
    if (fd >= 0 && mapped != MAP_FAILED)
        last_ring = mapped;
    return mapped;
}
__attribute__((visibility("default"))) void *mmap64(void *addr, size_t length, int protection, int flags,
                                                    int fd, off_t offset)
{
    return mmap(addr, length, protection, flags, fd, offset);
}

/* An entry of a completion queue as the driver writes it: the two forms of a completion share their memory. */
static void complete(struct rxe_queue_buf *ring, unsigned count, int opcode)
{
    uint32_t producer = ring->producer_index;
    for (unsigned i = 0; i < count; i++) {
        struct ibv_wc *wc =
            (struct ibv_wc *)(void *)(ring->data + ((size_t)producer << ring->log2_elem_size));
        memset(wc, 0, sizeof *wc);
        wc->wr_id = i;
        wc->opcode = (enum ibv_wc_opcode)opcode;
        wc->byte_len = 64;
        wc->qp_num = qp->qp_num;
        producer = (producer + 1) & ring->index_mask;
    }
    __atomic_store_n(&ring->producer_index, producer, __ATOMIC_RELEASE);
}

static struct rxe_queue_buf *cq_ring, *cq_ex_ring;

static void post_send(size_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 64, .lkey = mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;
    need(ibv_post_send(qp, &wr, &bad) == 0, "post_send");
}
static void post_send_inline(size_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 32, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = i,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
    struct ibv_send_wr *bad;
    need(ibv_post_send(qp, &wr, &bad) == 0, "post_send inline");
}
static void post_write(size_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 64, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
    wr.wr.rdma.remote_addr = 0x1000;
    wr.wr.rdma.rkey = 7;
    struct ibv_send_wr *bad;
    need(ibv_post_send(qp, &wr, &bad) == 0, "post_send write");
}
static void post_send_list(size_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 64, .lkey = mr->lkey};
    struct ibv_send_wr wr[kBatch];
    memset(wr, 0, sizeof wr);
    for (size_t j = 0; j < kBatch; j++)
        wr[j] = (struct ibv_send_wr){.wr_id = i,
                                     .next = j + 1 < kBatch ? &wr[j + 1] : NULL,
                                     .sg_list = &sge,
                                     .num_sge = 1,
                                     .opcode = IBV_WR_SEND,
                                     .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;
    need(ibv_post_send(qp, wr, &bad) == 0, "post_send list");
}
static void post_recv(size_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 64, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    need(ibv_post_recv(qp, &wr, &bad) == 0, "post_recv");
}
static void post_srq_recv(size_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = 64, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    need(ibv_post_srq_recv(srq, &wr, &bad) == 0, "post_srq_recv");
}
static void wr_send(size_t i)
{
    ibv_wr_start(qp_ex);
    qp_ex->wr_id = i;
    qp_ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(qp_ex);
    ibv_wr_set_sge(qp_ex, mr->lkey, (uintptr_t)buffer, 64);
    need(ibv_wr_complete(qp_ex) == 0, "wr_send");
}
static void wr_rdma_write(size_t i)
{
    ibv_wr_start(qp_ex);
    qp_ex->wr_id = i;
    qp_ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp_ex, 7, 0x1000);
    ibv_wr_set_sge(qp_ex, mr->lkey, (uintptr_t)buffer, 64);
    need(ibv_wr_complete(qp_ex) == 0, "wr_rdma_write");
}
static void wr_batch(size_t i)
{
    ibv_wr_start(qp_ex);
    for (size_t j = 0; j < kBatch; j++) {
        qp_ex->wr_id = i;
        qp_ex->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_send(qp_ex);
        ibv_wr_set_sge(qp_ex, mr->lkey, (uintptr_t)buffer, 64);
    }
    need(ibv_wr_complete(qp_ex) == 0, "wr batch");
}
static void poll_empty(size_t i)
{
    (void)i;
    struct ibv_wc wc;
    need(ibv_poll_cq(cq, 1, &wc) == 0, "poll_cq empty");
}
static void poll_one(size_t i)
{
    (void)i;
    struct ibv_wc wc;
    need(ibv_poll_cq(cq, 1, &wc) == 1, "poll_cq");
}
static void poll_many(size_t i)
{
    (void)i;
    struct ibv_wc wc[kBatch];
    need(ibv_poll_cq(cq, kBatch, wc) == kBatch, "poll_cq of many");
}
static void poll_extended(size_t i)
{
    (void)i;
    struct ibv_poll_cq_attr attr = {.comp_mask = 0};
    need(ibv_start_poll(cq_ex, &attr) == 0, "start_poll");
    uint32_t sum = 0;
    for (size_t j = 0; j < kBatch; j++) {
        need(j == 0 || ibv_next_poll(cq_ex) == 0, "next_poll");
        sum += ibv_wc_read_byte_len(cq_ex) + (uint32_t)ibv_wc_read_opcode(cq_ex);
    }
    ibv_end_poll(cq_ex);
    need(sum != 0, "reading completions");
}

static void to_rts(struct ibv_qp *which)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    need(ibv_modify_qp(which, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
             0,
         "modify_qp to INIT");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = 17,
        .ah_attr = {.is_global = 1, .grh = {.dgid = {.raw = {0xfe, 0x80, [15] = 1}}}, .port_num = 1}};
    need(ibv_modify_qp(which, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "modify_qp to RTR");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
    need(ibv_modify_qp(which, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                           IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "modify_qp to RTS");
}

int main(void)
{
    struct ibv_context *context = open_named("rxe0");
    pd = ibv_alloc_pd(context);
    mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE);
    cq = ibv_create_cq(context, kDepth, NULL, NULL, 0);
    cq_ring = last_ring;
    struct ibv_cq_init_attr_ex cq_attr = {.cqe = kDepth, .wc_flags = IBV_WC_STANDARD_FLAGS};
    cq_ex = ibv_create_cq_ex(context, &cq_attr);
    cq_ex_ring = last_ring;
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = kDepth, .max_sge = 1}};
    srq = ibv_create_srq(pd, &srq_attr);
    need(pd != NULL && mr != NULL && cq != NULL && cq_ex != NULL && srq != NULL, "setting up");
    need(cq_ring != NULL && cq_ex_ring != cq_ring, "seeing the rings being mapped");

    struct ibv_qp_init_attr_ex attr = {.send_cq = cq,
                                       .recv_cq = cq,
                                       .cap = {.max_send_wr = kDepth,
                                               .max_recv_wr = kDepth,
                                               .max_send_sge = 1,
                                               .max_recv_sge = 1,
                                               .max_inline_data = 64},
                                       .qp_type = IBV_QPT_RC,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                       .pd = pd,
                                       .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE};
    qp = ibv_create_qp_ex(context, &attr);
    need(qp != NULL, "create_qp_ex");
    qp_ex = ibv_qp_to_qp_ex(qp);
    need(qp_ex != NULL, "qp_to_qp_ex");
    to_rts(qp);

    /* A ring of this depth holds the posts of all measurements of its kind: nothing need be taken out in between. */
    measure_warm("rxe post_send", post_send);
    measure_warm("rxe post_send inline", post_send_inline);
    measure_warm("rxe post_send write", post_write);
    measure_warm("rxe post_recv", post_recv);
    measure_warm("rxe post_srq_recv", post_srq_recv);
    measure_warm("rxe wr_send", wr_send);
    measure_warm("rxe wr_rdma_write", wr_rdma_write);

    measure_warm("rxe poll_cq, empty", poll_empty);
    complete(cq_ring, kTimes + 1, IBV_WC_SEND);
    measure_warm("rxe poll_cq of one", poll_one);
    complete(cq_ring, kBatch * (kTimes + 1), IBV_WC_SEND);
    measure_warm("rxe poll_cq of 16", poll_many);
    complete(cq_ex_ring, kBatch * (kTimes + 1), IBV_WC_SEND);
    measure_warm("rxe start_poll, next_poll of 16", poll_extended);

    struct ibv_qp_init_attr batch_attr = {.send_cq = cq,
                                          .recv_cq = cq,
                                          .cap = {.max_send_wr = kDepth, .max_send_sge = 1},
                                          .qp_type = IBV_QPT_RC};
    qp = ibv_create_qp(pd, &batch_attr);
    need(qp != NULL, "create_qp");
    to_rts(qp);
    measure_warm("rxe post_send of 16", post_send_list);
    attr.cap.max_recv_wr = 0;
    qp = ibv_create_qp_ex(context, &attr);
    need(qp != NULL, "create_qp_ex");
    qp_ex = ibv_qp_to_qp_ex(qp);
    to_rts(qp);
    measure_warm("rxe ibv_wr_* of 16", wr_batch);
    return 0;
}
