/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program of 2006 was compiled against: the objects and verbs of IBVERBS_1.0, where they are not those of today.
 * Names begin with old_; structures that never changed come from today's header. ABI-frozen. */
#ifndef VERBS_1_0_H
#define VERBS_1_0_H

#include <infiniband/verbs.h>

#define OLD_VERB(name) __asm__(".symver old_" #name ", ibv_" #name "@IBVERBS_1.0")
#define OLD_SIZE(name, size) _Static_assert(sizeof(struct old_##name) == (size), "size of 2006")
#define OLD_AT(name, member, offset) \
    _Static_assert(offsetof(struct old_##name, member) == (offset), "offset of 2006")

struct old_device {
    void *obsolete[2];
    struct ibv_device *real_device;
    void *ops[2];
};
OLD_SIZE(device, 40);

struct old_cq;
struct old_qp;
struct old_srq;
struct old_ah;

struct old_recv_wr {
    struct old_recv_wr *next;
    uint64_t wr_id;
    struct ibv_sge *sg_list;
    int num_sge;
};
OLD_SIZE(recv_wr, 32);

struct old_send_wr {
    struct old_send_wr *next;
    uint64_t wr_id;
    struct ibv_sge *sg_list;
    int num_sge;
    enum ibv_wr_opcode opcode;
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
            struct old_ah *ah;
            uint32_t remote_qpn;
            uint32_t remote_qkey;
        } ud;
    } wr;
};
OLD_SIZE(send_wr, 72);
OLD_AT(send_wr, imm_data, 36);
OLD_AT(send_wr, wr, 40);

/* Programs reach five of these; the rest was the library's. */
struct old_context_ops {
    void *before_poll[7];
    int (*poll_cq)(struct old_cq *, int, struct ibv_wc *);
    int (*req_notify_cq)(struct old_cq *, int);
    void *before_post_srq[7];
    int (*post_srq_recv)(struct old_srq *, struct old_recv_wr *, struct old_recv_wr **);
    void *before_post[4];
    int (*post_send)(struct old_qp *, struct old_send_wr *, struct old_send_wr **);
    int (*post_recv)(struct old_qp *, struct old_recv_wr *, struct old_recv_wr **);
    void *after_post[4];
};
OLD_SIZE(context_ops, 216);
OLD_AT(context_ops, poll_cq, 56);
OLD_AT(context_ops, post_srq_recv, 128);
OLD_AT(context_ops, post_send, 168);

struct old_context {
    struct old_device *device;
    struct old_context_ops ops;
    int cmd_fd;
    int async_fd;
    int num_comp_vectors;
    struct ibv_context *real_context;
};
OLD_SIZE(context, 248);
OLD_AT(context, num_comp_vectors, 232);

struct old_pd {
    struct old_context *context;
    uint32_t handle;
    struct ibv_pd *real_pd;
};
OLD_SIZE(pd, 24);

struct old_mr {
    struct old_context *context;
    struct old_pd *pd;
    uint32_t handle;
    uint32_t lkey;
    uint32_t rkey;
    struct ibv_mr *real_mr;
};
OLD_SIZE(mr, 40);

struct old_cq {
    struct old_context *context;
    void *cq_context;
    uint32_t handle;
    int cqe;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed;
    uint32_t async_events_completed;
    struct ibv_cq *real_cq;
};
OLD_SIZE(cq, 128);

struct old_srq {
    struct old_context *context;
    void *srq_context;
    struct old_pd *pd;
    uint32_t handle;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
    struct ibv_srq *real_srq;
};
OLD_SIZE(srq, 136);

struct old_qp_init_attr {
    void *qp_context;
    struct old_cq *send_cq;
    struct old_cq *recv_cq;
    struct old_srq *srq;
    struct ibv_qp_cap cap;
    enum ibv_qp_type qp_type;
    int sq_sig_all;
};
OLD_SIZE(qp_init_attr, 64);

struct old_qp {
    struct old_context *context;
    void *qp_context;
    struct old_pd *pd;
    struct old_cq *send_cq;
    struct old_cq *recv_cq;
    struct old_srq *srq;
    uint32_t handle;
    uint32_t qp_num;
    enum ibv_qp_state state;
    enum ibv_qp_type qp_type;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
    struct ibv_qp *real_qp;
};
OLD_SIZE(qp, 168);

struct old_ah {
    struct old_context *context;
    struct old_pd *pd;
    uint32_t handle;
    struct ibv_ah *real_ah;
};
OLD_SIZE(ah, 32);

struct old_device **old_get_device_list(int *num);
OLD_VERB(get_device_list);
void old_free_device_list(struct old_device **list);
OLD_VERB(free_device_list);
const char *old_get_device_name(struct old_device *device);
OLD_VERB(get_device_name);
__be64 old_get_device_guid(struct old_device *device);
OLD_VERB(get_device_guid);
struct old_context *old_open_device(struct old_device *device);
OLD_VERB(open_device);
int old_close_device(struct old_context *context);
OLD_VERB(close_device);
int old_get_async_event(struct old_context *context, struct ibv_async_event *event);
OLD_VERB(get_async_event);
void old_ack_async_event(struct ibv_async_event *event);
OLD_VERB(ack_async_event);
int old_query_device(struct old_context *context, struct ibv_device_attr *attr);
OLD_VERB(query_device);
int old_query_port(struct old_context *context, uint8_t port_num, void *attr);
OLD_VERB(query_port);
int old_query_gid(struct old_context *context, uint8_t port_num, int index, union ibv_gid *gid);
OLD_VERB(query_gid);
int old_query_pkey(struct old_context *context, uint8_t port_num, int index, __be16 *pkey);
OLD_VERB(query_pkey);
struct old_pd *old_alloc_pd(struct old_context *context);
OLD_VERB(alloc_pd);
int old_dealloc_pd(struct old_pd *pd);
OLD_VERB(dealloc_pd);
struct old_mr *old_reg_mr(struct old_pd *pd, void *addr, size_t length, int access);
OLD_VERB(reg_mr);
int old_dereg_mr(struct old_mr *mr);
OLD_VERB(dereg_mr);
struct old_cq *old_create_cq(struct old_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector);
OLD_VERB(create_cq);
int old_resize_cq(struct old_cq *cq, int cqe);
OLD_VERB(resize_cq);
int old_destroy_cq(struct old_cq *cq);
OLD_VERB(destroy_cq);
int old_get_cq_event(struct ibv_comp_channel *channel, struct old_cq **cq, void **cq_context);
OLD_VERB(get_cq_event);
void old_ack_cq_events(struct old_cq *cq, unsigned int nevents);
OLD_VERB(ack_cq_events);
struct old_srq *old_create_srq(struct old_pd *pd, struct ibv_srq_init_attr *attr);
OLD_VERB(create_srq);
int old_modify_srq(struct old_srq *srq, struct ibv_srq_attr *attr, int mask);
OLD_VERB(modify_srq);
int old_query_srq(struct old_srq *srq, struct ibv_srq_attr *attr);
OLD_VERB(query_srq);
int old_destroy_srq(struct old_srq *srq);
OLD_VERB(destroy_srq);
struct old_qp *old_create_qp(struct old_pd *pd, struct old_qp_init_attr *attr);
OLD_VERB(create_qp);
int old_query_qp(struct old_qp *qp, struct ibv_qp_attr *attr, int mask, struct old_qp_init_attr *init_attr);
OLD_VERB(query_qp);
int old_modify_qp(struct old_qp *qp, struct ibv_qp_attr *attr, int mask);
OLD_VERB(modify_qp);
int old_destroy_qp(struct old_qp *qp);
OLD_VERB(destroy_qp);
struct old_ah *old_create_ah(struct old_pd *pd, struct ibv_ah_attr *attr);
OLD_VERB(create_ah);
int old_destroy_ah(struct old_ah *ah);
OLD_VERB(destroy_ah);
int old_attach_mcast(struct old_qp *qp, union ibv_gid *gid, uint16_t lid);
OLD_VERB(attach_mcast);
int old_detach_mcast(struct old_qp *qp, union ibv_gid *gid, uint16_t lid);
OLD_VERB(detach_mcast);

#endif
