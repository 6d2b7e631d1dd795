/* SPDX-License-Identifier: BSD-2-Clause */
/* The ops of the fake provider. Its two halves are compiled against different headers and share but the names of
 * structures. */
#ifndef FAKE_OPS_H
#define FAKE_OPS_H

#include <stddef.h>
#include <stdint.h>

struct ibv_ah;
struct ibv_ah_attr;
struct ibv_async_event;
struct ibv_comp_channel;
struct ibv_context;
struct ibv_cq;
struct ibv_device_attr_ex;
struct ibv_mr;
struct ibv_pd;
struct ibv_port_attr;
struct ibv_qp;
struct ibv_qp_attr;
struct ibv_qp_init_attr;
struct ibv_query_device_ex_input;
struct ibv_recv_wr;
struct ibv_send_wr;
struct ibv_srq;
struct ibv_srq_attr;
struct ibv_srq_init_attr;
struct ibv_wc;
struct verbs_mr;
union ibv_gid;

struct ibv_pd *fake_alloc_pd(struct ibv_context *context);
int fake_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *fake_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
int fake_dereg_mr(struct verbs_mr *mr);
struct ibv_cq *fake_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
                              int comp_vector);
int fake_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only);
void fake_cq_event(struct ibv_cq *cq);
int fake_resize_cq(struct ibv_cq *cq, int cqe);
int fake_destroy_cq(struct ibv_cq *cq);
struct ibv_srq *fake_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int fake_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int fake_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int fake_destroy_srq(struct ibv_srq *srq);
int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
struct ibv_qp *fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int fake_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr);
int fake_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int fake_destroy_qp(struct ibv_qp *qp);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
struct ibv_ah *fake_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int fake_destroy_ah(struct ibv_ah *ah);
int fake_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int fake_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
void fake_async_event(struct ibv_context *context, struct ibv_async_event *event);
int fake_query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                      struct ibv_device_attr_ex *attr, size_t size);
int fake_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

#endif
