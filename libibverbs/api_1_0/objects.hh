// SPDX-License-Identifier: BSD-2-Clause
// The objects and the data path of IBVERBS_1.0, as programs of 2006 were compiled against them. ABI-frozen.
//
// Each object wraps one of today's, which leads back through its user's pointer: cq_context, qp_context and
// srq_context of the object inside are the wrapper, whose own such member is the program's.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>

struct ibv_device_1_0 {
    void *obsolete_sysfs_dev;
    void *obsolete_sysfs_ibdev;
    ibv_device *real_device;
    _ibv_device_ops _ops;
};
static_assert(sizeof(ibv_device_1_0) == 40);

struct ibv_context_1_0;
struct ibv_cq_1_0;
struct ibv_srq_1_0;
struct ibv_qp_1_0;
struct ibv_ah_1_0;

struct ibv_recv_wr_1_0 {
    ibv_recv_wr_1_0 *next;
    uint64_t wr_id;
    ibv_sge *sg_list;
    int num_sge;
};
static_assert(sizeof(ibv_recv_wr_1_0) == 32);

struct ibv_send_wr_1_0 {
    ibv_send_wr_1_0 *next;
    uint64_t wr_id;
    ibv_sge *sg_list;
    int num_sge;
    ibv_wr_opcode opcode;
    int send_flags;
    __be32 imm_data;
    union {
        struct {
            uint64_t remote_addr;
            uint32_t rkey;
        } rdma;
        struct {
            uint64_t remote_addr;
            uint64_t compare_add;
            uint64_t swap;
            uint32_t rkey;
        } atomic;
        struct {
            ibv_ah_1_0 *ah;
            uint32_t remote_qpn;
            uint32_t remote_qkey;
        } ud;
    } wr;
};
static_assert(sizeof(ibv_send_wr_1_0) == 72 && offsetof(ibv_send_wr_1_0, wr) == 40);

/// The inline verbs of programs call five of these; the others were the library's own and are null.
struct ibv_context_ops_1_0 {
    int (*query_device)(ibv_context *, ibv_device_attr *);
    int (*query_port)(ibv_context *, uint8_t, ibv_port_attr *);
    ibv_pd *(*alloc_pd)(ibv_context *);
    int (*dealloc_pd)(ibv_pd *);
    ibv_mr *(*reg_mr)(ibv_pd *, void *, size_t, int);
    int (*dereg_mr)(ibv_mr *);
    ibv_cq *(*create_cq)(ibv_context *, int, ibv_comp_channel *, int);
    int (*poll_cq)(ibv_cq_1_0 *, int, ibv_wc *);
    int (*req_notify_cq)(ibv_cq_1_0 *, int);
    void (*cq_event)(ibv_cq *);
    int (*resize_cq)(ibv_cq *, int);
    int (*destroy_cq)(ibv_cq *);
    ibv_srq *(*create_srq)(ibv_pd *, ibv_srq_init_attr *);
    int (*modify_srq)(ibv_srq *, ibv_srq_attr *, int);
    int (*query_srq)(ibv_srq *, ibv_srq_attr *);
    int (*destroy_srq)(ibv_srq *);
    int (*post_srq_recv)(ibv_srq_1_0 *, ibv_recv_wr_1_0 *, ibv_recv_wr_1_0 **);
    ibv_qp *(*create_qp)(ibv_pd *, ibv_qp_init_attr *);
    int (*query_qp)(ibv_qp *, ibv_qp_attr *, int, ibv_qp_init_attr *);
    int (*modify_qp)(ibv_qp *, ibv_qp_attr *, int);
    int (*destroy_qp)(ibv_qp *);
    int (*post_send)(ibv_qp_1_0 *, ibv_send_wr_1_0 *, ibv_send_wr_1_0 **);
    int (*post_recv)(ibv_qp_1_0 *, ibv_recv_wr_1_0 *, ibv_recv_wr_1_0 **);
    ibv_ah *(*create_ah)(ibv_pd *, ibv_ah_attr *);
    int (*destroy_ah)(ibv_ah *);
    int (*attach_mcast)(ibv_qp *, ibv_gid *, uint16_t);
    int (*detach_mcast)(ibv_qp *, ibv_gid *, uint16_t);
};
static_assert(sizeof(ibv_context_ops_1_0) == 216);
static_assert(offsetof(ibv_context_ops_1_0, poll_cq) == 56 &&
              offsetof(ibv_context_ops_1_0, req_notify_cq) == 64 &&
              offsetof(ibv_context_ops_1_0, post_srq_recv) == 128 &&
              offsetof(ibv_context_ops_1_0, post_send) == 168 &&
              offsetof(ibv_context_ops_1_0, post_recv) == 176);

struct ibv_context_1_0 {
    ibv_device_1_0 *device;
    ibv_context_ops_1_0 ops;
    int cmd_fd;
    int async_fd;
    int num_comp_vectors;
    ibv_context *real_context;
};
static_assert(sizeof(ibv_context_1_0) == 248 && offsetof(ibv_context_1_0, cmd_fd) == 224);

struct ibv_pd_1_0 {
    ibv_context_1_0 *context;
    uint32_t handle;
    ibv_pd *real_pd;
};
static_assert(sizeof(ibv_pd_1_0) == 24);

struct ibv_mr_1_0 {
    ibv_context_1_0 *context;
    ibv_pd_1_0 *pd;
    uint32_t handle;
    uint32_t lkey;
    uint32_t rkey;
    ibv_mr *real_mr;
};
static_assert(sizeof(ibv_mr_1_0) == 40);

/// Events are counted and waited for in the object inside; so it is in SRQs and QPs.
struct ibv_cq_1_0 {
    ibv_context_1_0 *context;
    void *cq_context;
    uint32_t handle;
    int cqe;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed;
    uint32_t async_events_completed;
    ibv_cq *real_cq;
};
static_assert(sizeof(ibv_cq_1_0) == 128);

struct ibv_srq_1_0 {
    ibv_context_1_0 *context;
    void *srq_context;
    ibv_pd_1_0 *pd;
    uint32_t handle;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
    ibv_srq *real_srq;
};
static_assert(sizeof(ibv_srq_1_0) == 136);

struct ibv_qp_init_attr_1_0 {
    void *qp_context;
    ibv_cq_1_0 *send_cq;
    ibv_cq_1_0 *recv_cq;
    ibv_srq_1_0 *srq;
    ibv_qp_cap cap;
    ibv_qp_type qp_type;
    int sq_sig_all;
};
static_assert(sizeof(ibv_qp_init_attr_1_0) == 64);

struct ibv_qp_1_0 {
    ibv_context_1_0 *context;
    void *qp_context;
    ibv_pd_1_0 *pd;
    ibv_cq_1_0 *send_cq;
    ibv_cq_1_0 *recv_cq;
    ibv_srq_1_0 *srq;
    uint32_t handle;
    uint32_t qp_num;
    ibv_qp_state state;
    ibv_qp_type qp_type;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
    ibv_qp *real_qp;
};
static_assert(sizeof(ibv_qp_1_0) == 168 && offsetof(ibv_qp_1_0, real_qp) == 160);

struct ibv_ah_1_0 {
    ibv_context_1_0 *context;
    ibv_pd_1_0 *pd;
    uint32_t handle;
    ibv_ah *real_ah;
};
static_assert(sizeof(ibv_ah_1_0) == 32);
