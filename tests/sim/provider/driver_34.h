/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider interface of release 44.0 (ABI 34) on top of that release's public headers. ABI-frozen. */
#ifndef DRIVER_34_H
#define DRIVER_34_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { VERBS_MATCH_SENTINEL, VERBS_MATCH_PCI, VERBS_MATCH_MODALIAS, VERBS_MATCH_DRIVER_ID };
enum { IBV_MR_TYPE_MR, IBV_MR_TYPE_NULL_MR, IBV_MR_TYPE_IMPORTED_MR, IBV_MR_TYPE_DMABUF_MR };

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};

struct verbs_match_ent {
    void *driver_data;
    union {
        const char *modalias;
        uint64_t driver_id;
    } u;
    uint16_t vendor;
    uint16_t device;
    uint8_t kind;
};

struct verbs_sysfs_dev;
struct verbs_context_ops;

struct verbs_device_ops {
    const char *name;
    uint32_t match_min_abi_version;
    uint32_t match_max_abi_version;
    const struct verbs_match_ent *match_table;
    const struct verbs_device_ops **static_providers;
    bool (*match_device)(struct verbs_sysfs_dev *);
    struct verbs_context *(*alloc_context)(struct ibv_device *, int, void *);
    struct verbs_context *(*import_context)(struct ibv_device *, int);
    struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *);
    void (*uninit_device)(struct verbs_device *);
};
_Static_assert(sizeof(struct verbs_device_ops) == 72, "");

struct verbs_device {
    struct ibv_device device;
    const struct verbs_device_ops *ops;
    int refcount;
    struct list_node entry;
    struct verbs_sysfs_dev *sysfs;
    uint64_t core_support;
};
_Static_assert(sizeof(struct verbs_device) == 712, "");

struct verbs_mr {
    struct ibv_mr ibv_mr;
    unsigned int mr_type;
    int access;
};
_Static_assert(sizeof(struct verbs_mr) == 56, "");

struct verbs_xrcd {
    struct ibv_xrcd xrcd;
    uint32_t comp_mask;
    uint32_t handle;
};
_Static_assert(sizeof(struct verbs_xrcd) == 16, "");

struct verbs_srq {
    struct ibv_srq srq;
    enum ibv_srq_type srq_type;
    struct verbs_xrcd *xrcd;
    struct ibv_cq *cq;
    uint32_t srq_num;
};
_Static_assert(sizeof(struct verbs_srq) == 160, "");

struct verbs_cq {
    union {
        struct ibv_cq cq;
        struct ibv_cq_ex cq_ex;
    };
};
_Static_assert(sizeof(struct verbs_cq) == 288, "");

struct verbs_qp {
    union {
        struct ibv_qp qp;
        struct ibv_qp_ex qp_ex;
    };
    uint32_t comp_mask;
    struct verbs_xrcd *xrcd;
};
_Static_assert(sizeof(struct verbs_qp) == 368, "");

struct verbs_dm {
    struct ibv_dm dm;
    uint32_t handle;
};
_Static_assert(sizeof(struct verbs_dm) == 40, "");

struct verbs_counters {
    struct ibv_counters counters;
    uint32_t handle;
};
_Static_assert(sizeof(struct verbs_counters) == 16, "");

struct verbs_flow_action {
    struct ibv_flow_action action;
    uint32_t handle;
    int type;
};
_Static_assert(sizeof(struct verbs_flow_action) == 16, "");

struct ibv_command_buffer;

struct verbs_context_ops {
    int (*advise_mr)(struct ibv_pd *, enum ibv_advise_mr_advice, uint32_t, struct ibv_sge *, uint32_t);
    struct ibv_dm *(*alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *, enum ibv_mw_type);
    struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *);
    struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *, struct ibv_parent_domain_init_attr *);
    struct ibv_pd *(*alloc_pd)(struct ibv_context *);
    struct ibv_td *(*alloc_td)(struct ibv_context *, struct ibv_td_init_attr *);
    void (*async_event)(struct ibv_context *, struct ibv_async_event *);
    int (*attach_counters_point_flow)(struct ibv_counters *, struct ibv_counter_attach_attr *,
                                      struct ibv_flow *);
    int (*attach_mcast)(struct ibv_qp *, const union ibv_gid *, uint16_t);
    int (*bind_mw)(struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *);
    int (*close_xrcd)(struct ibv_xrcd *);
    void (*cq_event)(struct ibv_cq *);
    struct ibv_ah *(*create_ah)(struct ibv_pd *, struct ibv_ah_attr *);
    struct ibv_counters *(*create_counters)(struct ibv_context *, struct ibv_counters_init_attr *);
    struct ibv_cq *(*create_cq)(struct ibv_context *, int, struct ibv_comp_channel *, int);
    struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);
    struct ibv_flow *(*create_flow)(struct ibv_qp *, struct ibv_flow_attr *);
    struct ibv_flow_action *(*create_flow_action_esp)(struct ibv_context *,
                                                      struct ibv_flow_action_esp_attr *);
    struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
    struct ibv_rwq_ind_table *(*create_rwq_ind_table)(struct ibv_context *,
                                                      struct ibv_rwq_ind_table_init_attr *);
    struct ibv_srq *(*create_srq)(struct ibv_pd *, struct ibv_srq_init_attr *);
    struct ibv_srq *(*create_srq_ex)(struct ibv_context *, struct ibv_srq_init_attr_ex *);
    struct ibv_wq *(*create_wq)(struct ibv_context *, struct ibv_wq_init_attr *);
    int (*dealloc_mw)(struct ibv_mw *);
    int (*dealloc_pd)(struct ibv_pd *);
    int (*dealloc_td)(struct ibv_td *);
    int (*dereg_mr)(struct verbs_mr *);
    int (*destroy_ah)(struct ibv_ah *);
    int (*destroy_counters)(struct ibv_counters *);
    int (*destroy_cq)(struct ibv_cq *);
    int (*destroy_flow)(struct ibv_flow *);
    int (*destroy_flow_action)(struct ibv_flow_action *);
    int (*destroy_qp)(struct ibv_qp *);
    int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *);
    int (*destroy_srq)(struct ibv_srq *);
    int (*destroy_wq)(struct ibv_wq *);
    int (*detach_mcast)(struct ibv_qp *, const union ibv_gid *, uint16_t);
    void (*free_context)(struct ibv_context *);
    int (*free_dm)(struct ibv_dm *);
    int (*get_srq_num)(struct ibv_srq *, uint32_t *);
    struct ibv_dm *(*import_dm)(struct ibv_context *, uint32_t);
    struct ibv_mr *(*import_mr)(struct ibv_pd *, uint32_t);
    struct ibv_pd *(*import_pd)(struct ibv_context *, uint32_t);
    int (*modify_cq)(struct ibv_cq *, struct ibv_modify_cq_attr *);
    int (*modify_flow_action_esp)(struct ibv_flow_action *, struct ibv_flow_action_esp_attr *);
    int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int);
    int (*modify_qp_rate_limit)(struct ibv_qp *, struct ibv_qp_rate_limit_attr *);
    int (*modify_srq)(struct ibv_srq *, struct ibv_srq_attr *, int);
    int (*modify_wq)(struct ibv_wq *, struct ibv_wq_attr *);
    struct ibv_qp *(*open_qp)(struct ibv_context *, struct ibv_qp_open_attr *);
    struct ibv_xrcd *(*open_xrcd)(struct ibv_context *, struct ibv_xrcd_init_attr *);
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
    int (*post_srq_ops)(struct ibv_srq *, struct ibv_ops_wr *, struct ibv_ops_wr **);
    int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
    int (*query_device_ex)(struct ibv_context *, const struct ibv_query_device_ex_input *,
                           struct ibv_device_attr_ex *, size_t);
    int (*query_ece)(struct ibv_qp *, struct ibv_ece *);
    int (*query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *);
    int (*query_qp)(struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *);
    int (*query_qp_data_in_order)(struct ibv_qp *, enum ibv_wr_opcode, uint32_t);
    int (*query_rt_values)(struct ibv_context *, struct ibv_values_ex *);
    int (*query_srq)(struct ibv_srq *, struct ibv_srq_attr *);
    int (*read_counters)(struct ibv_counters *, uint64_t *, uint32_t, uint32_t);
    struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t, unsigned int);
    struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, uint64_t, int);
    int (*req_notify_cq)(struct ibv_cq *, int);
    int (*rereg_mr)(struct verbs_mr *, int, struct ibv_pd *, void *, size_t, int);
    int (*resize_cq)(struct ibv_cq *, int);
    int (*set_ece)(struct ibv_qp *, struct ibv_ece *);
    void (*unimport_dm)(struct ibv_dm *);
    void (*unimport_mr)(struct ibv_mr *);
    void (*unimport_pd)(struct ibv_pd *);
};
_Static_assert(sizeof(struct verbs_context_ops) == 608, "");
_Static_assert(sizeof(struct verbs_context) == 648, "");

/* Commands and answers are bytes here; the first bytes of a command are the header that the library fills. */
void *_verbs_init_and_alloc_context(struct ibv_device *, int, size_t, struct verbs_context *, uint32_t);
int ibv_cmd_advise_mr(struct ibv_pd *, enum ibv_advise_mr_advice, uint32_t, struct ibv_sge *, uint32_t);
int ibv_cmd_alloc_dm(struct ibv_context *, const struct ibv_alloc_dm_attr *, struct verbs_dm *,
                     struct ibv_command_buffer *);
int ibv_cmd_alloc_mw(struct ibv_pd *, enum ibv_mw_type, struct ibv_mw *, void *, size_t, void *, size_t);
int ibv_cmd_alloc_pd(struct ibv_context *, struct ibv_pd *, void *, size_t, void *, size_t);
int ibv_cmd_attach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t);
int ibv_cmd_close_xrcd(struct verbs_xrcd *);
int ibv_cmd_create_ah(struct ibv_pd *, struct ibv_ah *, struct ibv_ah_attr *, void *, size_t);
int ibv_cmd_create_counters(struct ibv_context *, struct ibv_counters_init_attr *, struct verbs_counters *,
                            struct ibv_command_buffer *);
int ibv_cmd_create_cq(struct ibv_context *, int, struct ibv_comp_channel *, int, struct ibv_cq *, void *,
                      size_t, void *, size_t);
int ibv_cmd_create_cq_ex(struct ibv_context *, const struct ibv_cq_init_attr_ex *, struct verbs_cq *, void *,
                         size_t, void *, size_t, uint32_t);
int ibv_cmd_create_flow(struct ibv_qp *, struct ibv_flow *, struct ibv_flow_attr *, void *, size_t);
int ibv_cmd_create_flow_action_esp(struct ibv_context *, struct ibv_flow_action_esp_attr *,
                                   struct verbs_flow_action *, struct ibv_command_buffer *);
int ibv_cmd_create_qp(struct ibv_pd *, struct ibv_qp *, struct ibv_qp_init_attr *, void *, size_t, void *,
                      size_t);
int ibv_cmd_create_qp_ex2(struct ibv_context *, struct verbs_qp *, struct ibv_qp_init_attr_ex *, void *,
                          size_t, void *, size_t);
int ibv_cmd_create_qp_ex(struct ibv_context *, struct verbs_qp *, struct ibv_qp_init_attr_ex *, void *,
                         size_t, void *, size_t);
int ibv_cmd_create_rwq_ind_table(struct ibv_context *, struct ibv_rwq_ind_table_init_attr *,
                                 struct ibv_rwq_ind_table *, void *, size_t);
int ibv_cmd_create_srq(struct ibv_pd *, struct ibv_srq *, struct ibv_srq_init_attr *, void *, size_t, void *,
                       size_t);
int ibv_cmd_create_srq_ex(struct ibv_context *, struct verbs_srq *, struct ibv_srq_init_attr_ex *, void *,
                          size_t, void *, size_t);
int ibv_cmd_create_wq(struct ibv_context *, struct ibv_wq_init_attr *, struct ibv_wq *, void *, size_t,
                      void *, size_t);
int ibv_cmd_dealloc_mw(struct ibv_mw *);
int ibv_cmd_dealloc_pd(struct ibv_pd *);
int ibv_cmd_dereg_mr(struct verbs_mr *);
int ibv_cmd_destroy_ah(struct ibv_ah *);
int ibv_cmd_destroy_counters(struct verbs_counters *);
int ibv_cmd_destroy_cq(struct ibv_cq *);
int ibv_cmd_destroy_flow(struct ibv_flow *);
int ibv_cmd_destroy_flow_action(struct verbs_flow_action *);
int ibv_cmd_destroy_qp(struct ibv_qp *);
int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *);
int ibv_cmd_destroy_srq(struct ibv_srq *);
int ibv_cmd_destroy_wq(struct ibv_wq *);
int ibv_cmd_detach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t);
int ibv_cmd_free_dm(struct verbs_dm *);
int ibv_cmd_get_context(struct verbs_context *, void *, size_t, void *, size_t);
int ibv_cmd_modify_cq(struct ibv_cq *, struct ibv_modify_cq_attr *, void *, size_t);
int ibv_cmd_modify_flow_action_esp(struct verbs_flow_action *, struct ibv_flow_action_esp_attr *,
                                   struct ibv_command_buffer *);
int ibv_cmd_modify_qp(struct ibv_qp *, struct ibv_qp_attr *, int, void *, size_t);
int ibv_cmd_modify_qp_ex(struct ibv_qp *, struct ibv_qp_attr *, int, void *, size_t, void *, size_t);
int ibv_cmd_modify_srq(struct ibv_srq *, struct ibv_srq_attr *, int, void *, size_t);
int ibv_cmd_modify_wq(struct ibv_wq *, struct ibv_wq_attr *, void *, size_t);
int ibv_cmd_open_qp(struct ibv_context *, struct verbs_qp *, int, struct ibv_qp_open_attr *, void *, size_t,
                    void *, size_t);
int ibv_cmd_open_xrcd(struct ibv_context *, struct verbs_xrcd *, int, struct ibv_xrcd_init_attr *, void *,
                      size_t, void *, size_t);
int ibv_cmd_poll_cq(struct ibv_cq *, int, struct ibv_wc *);
int ibv_cmd_post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
int ibv_cmd_post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
int ibv_cmd_post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
int ibv_cmd_query_context(struct ibv_context *, struct ibv_command_buffer *);
int ibv_cmd_query_device_any(struct ibv_context *, const struct ibv_query_device_ex_input *,
                             struct ibv_device_attr_ex *, size_t, void *, size_t *);
int ibv_cmd_query_mr(struct ibv_pd *, struct verbs_mr *, uint32_t);
int ibv_cmd_query_port(struct ibv_context *, uint8_t, struct ibv_port_attr *, void *, size_t);
int ibv_cmd_query_qp(struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *, void *, size_t);
int ibv_cmd_query_srq(struct ibv_srq *, struct ibv_srq_attr *, void *, size_t);
int ibv_cmd_read_counters(struct verbs_counters *, uint64_t *, uint32_t, uint32_t,
                          struct ibv_command_buffer *);
int ibv_cmd_reg_dm_mr(struct ibv_pd *, struct verbs_dm *, uint64_t, size_t, unsigned int, struct verbs_mr *,
                      struct ibv_command_buffer *);
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int, struct verbs_mr *);
int ibv_cmd_reg_mr(struct ibv_pd *, void *, size_t, uint64_t, int, struct verbs_mr *, void *, size_t, void *,
                   size_t);
int ibv_cmd_req_notify_cq(struct ibv_cq *, int);
int ibv_cmd_rereg_mr(struct verbs_mr *, uint32_t, void *, size_t, uint64_t, int, struct ibv_pd *, void *,
                     size_t, void *, size_t);
int ibv_cmd_resize_cq(struct ibv_cq *, int, void *, size_t, void *, size_t);
void verbs_init_cq(struct ibv_cq *, struct ibv_context *, struct ibv_comp_channel *, void *);
struct ibv_context *verbs_open_device(struct ibv_device *, void *);
void verbs_register_driver_34(const struct verbs_device_ops *);
void verbs_uninit_context(struct verbs_context *);

void verbs_set_ops(struct verbs_context *, const struct verbs_context_ops *);
#endif
