/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes an object of each basic kind on a device, uses it, and takes it down again; prints what each call
 * gave. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void report(const char *what, int result)
{
    printf("%s %d\n", what, result);
}

static struct ibv_context *open_device(const char *name)
{
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    struct ibv_context *context = NULL;
    if (list == NULL) {
        printf("list %d\n", errno);
        return NULL;
    }
    for (int i = 0; i < count && context == NULL; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            context = ibv_open_device(list[i]);
    ibv_free_device_list(list);
    return context;
}

static void modify_to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    report("init",
           ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = 17,
                                .rq_psn = 5,
                                .max_dest_rd_atomic = 1,
                                .min_rnr_timer = 12,
                                .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 1}}};
    report("rtr", ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .sq_psn = 9,
                                .max_rd_atomic = 1};
    report("rts", ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
    attr.qp_state = IBV_QPS_INIT;
    report("back to init", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    struct ibv_qp_init_attr init;
    report("query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
    printf("state %d mtu %d dest %u send_wr %u\n", attr.qp_state, attr.path_mtu, attr.dest_qp_num,
           init.cap.max_send_wr);
}

int main(int argc, char **argv)
{
    struct ibv_context *context = open_device(argc > 1 ? argv[1] : "rxe0");
    if (context == NULL) {
        printf("no context %d\n", errno);
        return 1;
    }
    char *memory = aligned_alloc(4096, 8192);
    struct ibv_device_attr device;
    struct ibv_port_attr port;
    report("query_device", ibv_query_device(context, &device));
    report("query_port", ibv_query_port(context, 1, &port));
    report("query_port 9", ibv_query_port(context, 9, &port));

    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    printf("lkey %#x rkey %#x\n", mr->lkey, mr->rkey);
    report("reg_mr refused", ibv_reg_mr(pd, memory, 8192, IBV_ACCESS_REMOTE_WRITE) == NULL ? errno : 0);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 10, context, channel, 1);
    printf("cqe %d\n", cq->cqe);
    report("create_cq refused", ibv_create_cq(context, 0, NULL, NULL, 0) == NULL ? errno : 0);
    report("resize_cq", ibv_resize_cq(cq, 20));
    report("req_notify_cq", ibv_req_notify_cq(cq, 0));
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 8, .max_sge = 2}};
    struct ibv_srq *srq = ibv_create_srq(pd, &srq_attr);
    struct ibv_srq_attr limit = {.srq_limit = 3};
    report("modify_srq", ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
    report("query_srq", ibv_query_srq(srq, &limit));
    printf("srq max_wr %u max_sge %u limit %u\n", limit.max_wr, limit.max_sge, limit.srq_limit);

    struct ibv_qp_init_attr qp_attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(pd, &qp_attr);
    printf("qp %u send_wr %u\n", qp->qp_num, qp_attr.cap.max_send_wr);
    modify_to_rts(qp);
    qp_attr.srq = srq;
    struct ibv_qp *with_srq = ibv_create_qp(pd, &qp_attr);
    report("qp with srq", with_srq != NULL);
    struct ibv_ah_attr ah_attr = {
        .is_global = 1, .port_num = 1, .grh = {.dgid = {.raw = {0xfe, 0x80, [15] = 9}}}};
    struct ibv_ah *ah = ibv_create_ah(pd, &ah_attr);
    report("ah", ah != NULL);

    report("dealloc_pd in use", ibv_dealloc_pd(pd));
    report("destroy_cq in use", ibv_destroy_cq(cq));
    if (ah != NULL)
        report("destroy_ah", ibv_destroy_ah(ah));
    if (with_srq != NULL)
        report("destroy_qp", ibv_destroy_qp(with_srq));
    report("destroy_qp", ibv_destroy_qp(qp));
    report("destroy_srq", ibv_destroy_srq(srq));
    report("destroy_cq", ibv_destroy_cq(cq));
    report("destroy_comp_channel", ibv_destroy_comp_channel(channel));
    report("dereg_mr", ibv_dereg_mr(mr));
    report("dealloc_pd", ibv_dealloc_pd(pd));
    report("close", ibv_close_device(context));
    free(memory);
    return 0;
}
