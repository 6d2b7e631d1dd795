/* SPDX-License-Identifier: BSD-2-Clause */
/* The public objects that a provider touches. Enumerations are unsigned int here. ABI-frozen. */
#ifndef PUBLIC_H
#define PUBLIC_H

#ifndef RELEASE
#define RELEASE 44
#endif

#include <linux/types.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

struct _compat_ibv_port_attr;
struct ibv_ah;
struct ibv_ah_attr;
struct ibv_alloc_dm_attr;
struct ibv_async_event;
struct ibv_comp_channel;
struct ibv_context;
struct ibv_context_ops;
struct ibv_counter_attach_attr;
struct ibv_counters;
struct ibv_counters_init_attr;
struct ibv_cq;
struct ibv_cq_ex;
struct ibv_cq_init_attr_ex;
struct ibv_data_buf;
struct ibv_device;
struct ibv_device_attr;
struct ibv_device_attr_ex;
struct ibv_buf;
struct ibv_dm;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
struct ibv_ece;
struct ibv_flow;
struct ibv_flow_action;
struct ibv_flow_action_esp_attr;
struct ibv_flow_attr;
struct ibv_modify_cq_attr;
struct ibv_mr;
struct ibv_mw;
struct ibv_mw_bind;
struct ibv_mw_bind_info;
struct ibv_ops_wr;
struct ibv_parent_domain_init_attr;
struct ibv_pd;
struct ibv_poll_cq_attr;
struct ibv_port_attr;
struct ibv_qp;
struct ibv_qp_attr;
struct ibv_qp_ex;
struct ibv_qp_init_attr;
struct ibv_qp_init_attr_ex;
struct ibv_qp_open_attr;
struct ibv_qp_rate_limit_attr;
struct ibv_query_device_ex_input;
struct ibv_recv_wr;
struct ibv_rwq_ind_table;
struct ibv_rwq_ind_table_init_attr;
struct ibv_send_wr;
struct ibv_sge;
struct ibv_srq;
struct ibv_srq_attr;
struct ibv_srq_init_attr;
struct ibv_srq_init_attr_ex;
struct ibv_td;
struct ibv_td_init_attr;
struct ibv_values_ex;
struct ibv_wc;
struct ibv_wc_tm_info;
struct ibv_wq;
struct ibv_wq_attr;
struct ibv_wq_init_attr;
struct ibv_xrcd;
struct ibv_xrcd_init_attr;
struct list_node;
struct verbs_context;
struct verbs_device;
struct verbs_device_ops;
struct verbs_ex_private;
struct verbs_match_ent;
struct verbs_mr;
struct verbs_sysfs_dev;
struct verbs_xrcd;
union ibv_gid;

struct ibv_device {
    void *_ops[2];
    unsigned int node_type;
    unsigned int transport_type;
    char name[64];
    char dev_name[64];
    char dev_path[256];
    char ibdev_path[256];
};
_Static_assert(sizeof(struct ibv_device) == 664, "");
AT(ibv_device, _ops, 0);
AT(ibv_device, node_type, 16);
AT(ibv_device, transport_type, 20);
AT(ibv_device, name, 24);
AT(ibv_device, dev_name, 88);
AT(ibv_device, dev_path, 152);
AT(ibv_device, ibdev_path, 408);

struct ibv_context_ops {
    int (*_compat_query_device)(struct ibv_context *, struct ibv_device_attr *);
    int (*_compat_query_port)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *);
    void *(*_compat_alloc_pd)(void);
    void *(*_compat_dealloc_pd)(void);
    void *(*_compat_reg_mr)(void);
    void *(*_compat_rereg_mr)(void);
    void *(*_compat_dereg_mr)(void);
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *, unsigned int);
    int (*bind_mw)(struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *);
    int (*dealloc_mw)(struct ibv_mw *);
    void *(*_compat_create_cq)(void);
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
    int (*req_notify_cq)(struct ibv_cq *, int);
    void *(*_compat_cq_event)(void);
    void *(*_compat_resize_cq)(void);
    void *(*_compat_destroy_cq)(void);
    void *(*_compat_create_srq)(void);
    void *(*_compat_modify_srq)(void);
    void *(*_compat_query_srq)(void);
    void *(*_compat_destroy_srq)(void);
    int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    void *(*_compat_create_qp)(void);
    void *(*_compat_query_qp)(void);
    void *(*_compat_modify_qp)(void);
    void *(*_compat_destroy_qp)(void);
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    void *(*_compat_create_ah)(void);
    void *(*_compat_destroy_ah)(void);
    void *(*_compat_attach_mcast)(void);
    void *(*_compat_detach_mcast)(void);
    void *(*_compat_async_event)(void);
};
_Static_assert(sizeof(struct ibv_context_ops) == 256, "");
AT(ibv_context_ops, _compat_query_device, 0);
AT(ibv_context_ops, _compat_query_port, 8);
AT(ibv_context_ops, _compat_alloc_pd, 16);
AT(ibv_context_ops, _compat_dealloc_pd, 24);
AT(ibv_context_ops, _compat_reg_mr, 32);
AT(ibv_context_ops, _compat_rereg_mr, 40);
AT(ibv_context_ops, _compat_dereg_mr, 48);
AT(ibv_context_ops, alloc_mw, 56);
AT(ibv_context_ops, bind_mw, 64);
AT(ibv_context_ops, dealloc_mw, 72);
AT(ibv_context_ops, _compat_create_cq, 80);
AT(ibv_context_ops, poll_cq, 88);
AT(ibv_context_ops, req_notify_cq, 96);
AT(ibv_context_ops, _compat_cq_event, 104);
AT(ibv_context_ops, _compat_resize_cq, 112);
AT(ibv_context_ops, _compat_destroy_cq, 120);
AT(ibv_context_ops, _compat_create_srq, 128);
AT(ibv_context_ops, _compat_modify_srq, 136);
AT(ibv_context_ops, _compat_query_srq, 144);
AT(ibv_context_ops, _compat_destroy_srq, 152);
AT(ibv_context_ops, post_srq_recv, 160);
AT(ibv_context_ops, _compat_create_qp, 168);
AT(ibv_context_ops, _compat_query_qp, 176);
AT(ibv_context_ops, _compat_modify_qp, 184);
AT(ibv_context_ops, _compat_destroy_qp, 192);
AT(ibv_context_ops, post_send, 200);
AT(ibv_context_ops, post_recv, 208);
AT(ibv_context_ops, _compat_create_ah, 216);
AT(ibv_context_ops, _compat_destroy_ah, 224);
AT(ibv_context_ops, _compat_attach_mcast, 232);
AT(ibv_context_ops, _compat_detach_mcast, 240);
AT(ibv_context_ops, _compat_async_event, 248);

struct ibv_context {
    struct ibv_device *device;
    struct ibv_context_ops ops;
    int cmd_fd;
    int async_fd;
    int num_comp_vectors;
    pthread_mutex_t mutex;
    void *abi_compat;
};
_Static_assert(sizeof(struct ibv_context) == 328, "");
AT(ibv_context, device, 0);
AT(ibv_context, ops, 8);
AT(ibv_context, cmd_fd, 264);
AT(ibv_context, async_fd, 268);
AT(ibv_context, num_comp_vectors, 272);
AT(ibv_context, mutex, 280);
AT(ibv_context, abi_compat, 320);

struct ibv_port_attr {
    unsigned int state;
    unsigned int max_mtu;
    unsigned int active_mtu;
    int gid_tbl_len;
    uint32_t port_cap_flags;
    uint32_t max_msg_sz;
    uint32_t bad_pkey_cntr;
    uint32_t qkey_viol_cntr;
    uint16_t pkey_tbl_len;
    uint16_t lid;
    uint16_t sm_lid;
    uint8_t lmc;
    uint8_t max_vl_num;
    uint8_t sm_sl;
    uint8_t subnet_timeout;
    uint8_t init_type_reply;
    uint8_t active_width;
    uint8_t active_speed;
    uint8_t phys_state;
    uint8_t link_layer;
    uint8_t flags;
    uint16_t port_cap_flags2;
#if RELEASE >= 50
    uint32_t active_speed_ex;
#endif
};
_Static_assert(sizeof(struct ibv_port_attr) == (RELEASE >= 50 ? 56 : 52), "");
AT(ibv_port_attr, state, 0);
AT(ibv_port_attr, max_mtu, 4);
AT(ibv_port_attr, active_mtu, 8);
AT(ibv_port_attr, gid_tbl_len, 12);
AT(ibv_port_attr, port_cap_flags, 16);
AT(ibv_port_attr, max_msg_sz, 20);
AT(ibv_port_attr, bad_pkey_cntr, 24);
AT(ibv_port_attr, qkey_viol_cntr, 28);
AT(ibv_port_attr, pkey_tbl_len, 32);
AT(ibv_port_attr, lid, 34);
AT(ibv_port_attr, sm_lid, 36);
AT(ibv_port_attr, lmc, 38);
AT(ibv_port_attr, max_vl_num, 39);
AT(ibv_port_attr, sm_sl, 40);
AT(ibv_port_attr, subnet_timeout, 41);
AT(ibv_port_attr, init_type_reply, 42);
AT(ibv_port_attr, active_width, 43);
AT(ibv_port_attr, active_speed, 44);
AT(ibv_port_attr, phys_state, 45);
AT(ibv_port_attr, link_layer, 46);
AT(ibv_port_attr, flags, 47);
AT(ibv_port_attr, port_cap_flags2, 48);

struct ibv_pd {
    struct ibv_context *context;
    uint32_t handle;
};
_Static_assert(sizeof(struct ibv_pd) == 16, "");
AT(ibv_pd, context, 0);
AT(ibv_pd, handle, 8);

struct ibv_mr {
    struct ibv_context *context;
    struct ibv_pd *pd;
    void *addr;
    size_t length;
    uint32_t handle;
    uint32_t lkey;
    uint32_t rkey;
};
_Static_assert(sizeof(struct ibv_mr) == 48, "");
AT(ibv_mr, context, 0);
AT(ibv_mr, pd, 8);
AT(ibv_mr, addr, 16);
AT(ibv_mr, length, 24);
AT(ibv_mr, handle, 32);
AT(ibv_mr, lkey, 36);
AT(ibv_mr, rkey, 40);

struct ibv_qp {
    struct ibv_context *context;
    void *qp_context;
    struct ibv_pd *pd;
    struct ibv_cq *send_cq;
    struct ibv_cq *recv_cq;
    struct ibv_srq *srq;
    uint32_t handle;
    uint32_t qp_num;
    unsigned int state;
    unsigned int qp_type;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
};
_Static_assert(sizeof(struct ibv_qp) == 160, "");
AT(ibv_qp, context, 0);
AT(ibv_qp, qp_context, 8);
AT(ibv_qp, pd, 16);
AT(ibv_qp, send_cq, 24);
AT(ibv_qp, recv_cq, 32);
AT(ibv_qp, srq, 40);
AT(ibv_qp, handle, 48);
AT(ibv_qp, qp_num, 52);
AT(ibv_qp, state, 56);
AT(ibv_qp, qp_type, 60);
AT(ibv_qp, mutex, 64);
AT(ibv_qp, cond, 104);
AT(ibv_qp, events_completed, 152);

struct ibv_qp_ex {
    struct ibv_qp qp_base;
    uint64_t comp_mask;
    uint64_t wr_id;
    unsigned int wr_flags;
    void (*wr_atomic_cmp_swp)(struct ibv_qp_ex *, uint32_t, uint64_t, uint64_t, uint64_t);
    void (*wr_atomic_fetch_add)(struct ibv_qp_ex *, uint32_t, uint64_t, uint64_t);
    void (*wr_bind_mw)(struct ibv_qp_ex *, struct ibv_mw *, uint32_t, const struct ibv_mw_bind_info *);
    void (*wr_local_inv)(struct ibv_qp_ex *, uint32_t);
    void (*wr_rdma_read)(struct ibv_qp_ex *, uint32_t, uint64_t);
    void (*wr_rdma_write)(struct ibv_qp_ex *, uint32_t, uint64_t);
    void (*wr_rdma_write_imm)(struct ibv_qp_ex *, uint32_t, uint64_t, uint32_t);
    void (*wr_send)(struct ibv_qp_ex *);
    void (*wr_send_imm)(struct ibv_qp_ex *, uint32_t);
    void (*wr_send_inv)(struct ibv_qp_ex *, uint32_t);
    void (*wr_send_tso)(struct ibv_qp_ex *, void *, uint16_t, uint16_t);
    void (*wr_set_ud_addr)(struct ibv_qp_ex *, struct ibv_ah *, uint32_t, uint32_t);
    void (*wr_set_xrc_srqn)(struct ibv_qp_ex *, uint32_t);
    void (*wr_set_inline_data)(struct ibv_qp_ex *, void *, size_t);
    void (*wr_set_inline_data_list)(struct ibv_qp_ex *, size_t, const struct ibv_data_buf *);
    void (*wr_set_sge)(struct ibv_qp_ex *, uint32_t, uint64_t, uint32_t);
    void (*wr_set_sge_list)(struct ibv_qp_ex *, size_t, const struct ibv_sge *);
    void (*wr_start)(struct ibv_qp_ex *);
    int (*wr_complete)(struct ibv_qp_ex *);
    void (*wr_abort)(struct ibv_qp_ex *);
#if RELEASE >= 44
    void (*wr_atomic_write)(struct ibv_qp_ex *, uint32_t, uint64_t, void *);
#endif
#if RELEASE >= 45
    void (*wr_flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);
#endif
};
_Static_assert(sizeof(struct ibv_qp_ex) == (RELEASE >= 45 ? 360 : RELEASE >= 44 ? 352 : 344), "");
AT(ibv_qp_ex, qp_base, 0);
AT(ibv_qp_ex, comp_mask, 160);
AT(ibv_qp_ex, wr_id, 168);
AT(ibv_qp_ex, wr_flags, 176);
AT(ibv_qp_ex, wr_atomic_cmp_swp, 184);
AT(ibv_qp_ex, wr_atomic_fetch_add, 192);
AT(ibv_qp_ex, wr_bind_mw, 200);
AT(ibv_qp_ex, wr_local_inv, 208);
AT(ibv_qp_ex, wr_rdma_read, 216);
AT(ibv_qp_ex, wr_rdma_write, 224);
AT(ibv_qp_ex, wr_rdma_write_imm, 232);
AT(ibv_qp_ex, wr_send, 240);
AT(ibv_qp_ex, wr_send_imm, 248);
AT(ibv_qp_ex, wr_send_inv, 256);
AT(ibv_qp_ex, wr_send_tso, 264);
AT(ibv_qp_ex, wr_set_ud_addr, 272);
AT(ibv_qp_ex, wr_set_xrc_srqn, 280);
AT(ibv_qp_ex, wr_set_inline_data, 288);
AT(ibv_qp_ex, wr_set_inline_data_list, 296);
AT(ibv_qp_ex, wr_set_sge, 304);
AT(ibv_qp_ex, wr_set_sge_list, 312);
AT(ibv_qp_ex, wr_start, 320);
AT(ibv_qp_ex, wr_complete, 328);
AT(ibv_qp_ex, wr_abort, 336);

struct ibv_cq {
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    void *cq_context;
    uint32_t handle;
    int cqe;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed;
    uint32_t async_events_completed;
};
_Static_assert(sizeof(struct ibv_cq) == 128, "");
AT(ibv_cq, context, 0);
AT(ibv_cq, channel, 8);
AT(ibv_cq, cq_context, 16);
AT(ibv_cq, handle, 24);
AT(ibv_cq, cqe, 28);
AT(ibv_cq, mutex, 32);
AT(ibv_cq, cond, 72);
AT(ibv_cq, comp_events_completed, 120);
AT(ibv_cq, async_events_completed, 124);

struct ibv_cq_ex {
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    void *cq_context;
    uint32_t handle;
    int cqe;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events_completed;
    uint32_t async_events_completed;
    uint32_t comp_mask;
    unsigned int status;
    uint64_t wr_id;
    int (*start_poll)(struct ibv_cq_ex *, struct ibv_poll_cq_attr *);
    int (*next_poll)(struct ibv_cq_ex *);
    void (*end_poll)(struct ibv_cq_ex *);
    unsigned int (*read_opcode)(struct ibv_cq_ex *);
    uint32_t (*read_vendor_err)(struct ibv_cq_ex *);
    uint32_t (*read_byte_len)(struct ibv_cq_ex *);
    uint32_t (*read_imm_data)(struct ibv_cq_ex *);
    uint32_t (*read_qp_num)(struct ibv_cq_ex *);
    uint32_t (*read_src_qp)(struct ibv_cq_ex *);
    uint32_t (*read_wc_flags)(struct ibv_cq_ex *);
    uint32_t (*read_slid)(struct ibv_cq_ex *);
    uint8_t (*read_sl)(struct ibv_cq_ex *);
    uint8_t (*read_dlid_path_bits)(struct ibv_cq_ex *);
    uint64_t (*read_completion_ts)(struct ibv_cq_ex *);
    uint16_t (*read_cvlan)(struct ibv_cq_ex *);
    uint32_t (*read_flow_tag)(struct ibv_cq_ex *);
    void (*read_tm_info)(struct ibv_cq_ex *, struct ibv_wc_tm_info *);
    uint64_t (*read_completion_wallclock_ns)(struct ibv_cq_ex *);
};
_Static_assert(sizeof(struct ibv_cq_ex) == 288, "");
AT(ibv_cq_ex, context, 0);
AT(ibv_cq_ex, channel, 8);
AT(ibv_cq_ex, cq_context, 16);
AT(ibv_cq_ex, handle, 24);
AT(ibv_cq_ex, cqe, 28);
AT(ibv_cq_ex, mutex, 32);
AT(ibv_cq_ex, cond, 72);
AT(ibv_cq_ex, comp_events_completed, 120);
AT(ibv_cq_ex, async_events_completed, 124);
AT(ibv_cq_ex, comp_mask, 128);
AT(ibv_cq_ex, status, 132);
AT(ibv_cq_ex, wr_id, 136);
AT(ibv_cq_ex, start_poll, 144);
AT(ibv_cq_ex, next_poll, 152);
AT(ibv_cq_ex, end_poll, 160);
AT(ibv_cq_ex, read_opcode, 168);
AT(ibv_cq_ex, read_vendor_err, 176);
AT(ibv_cq_ex, read_byte_len, 184);
AT(ibv_cq_ex, read_imm_data, 192);
AT(ibv_cq_ex, read_qp_num, 200);
AT(ibv_cq_ex, read_src_qp, 208);
AT(ibv_cq_ex, read_wc_flags, 216);
AT(ibv_cq_ex, read_slid, 224);
AT(ibv_cq_ex, read_sl, 232);
AT(ibv_cq_ex, read_dlid_path_bits, 240);
AT(ibv_cq_ex, read_completion_ts, 248);
AT(ibv_cq_ex, read_cvlan, 256);
AT(ibv_cq_ex, read_flow_tag, 264);
AT(ibv_cq_ex, read_tm_info, 272);
AT(ibv_cq_ex, read_completion_wallclock_ns, 280);

struct ibv_xrcd {
    struct ibv_context *context;
};
_Static_assert(sizeof(struct ibv_xrcd) == 8, "");
AT(ibv_xrcd, context, 0);

#endif
