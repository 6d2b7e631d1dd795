/* SPDX-License-Identifier: BSD-2-Clause */
/* What a provider was compiled against, as far as the tests need it: RELEASE is 36 to 64, 44 where nobody says. Of the
 * objects that changed between releases, facts/ has the offsets. ABI-frozen. */
#ifndef PROVIDER_H
#define PROVIDER_H

#include "public.h"

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};
_Static_assert(sizeof(struct list_node) == 16, "");
AT(list_node, next, 0);
AT(list_node, prev, 8);

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
_Static_assert(sizeof(struct verbs_match_ent) == 24, "");
AT(verbs_match_ent, driver_data, 0);
AT(verbs_match_ent, vendor, 16);
AT(verbs_match_ent, device, 18);
AT(verbs_match_ent, kind, 20);
AT(verbs_match_ent, u, 8);

struct verbs_sysfs_dev {
    struct list_node entry;
    void *provider_data;
    const struct verbs_match_ent *match;
    unsigned int flags;
    char sysfs_name[64];
    dev_t sysfs_cdev;
    char ibdev_name[64];
    char ibdev_path[256];
    char modalias[512];
    uint64_t node_guid;
    uint32_t driver_id;
    unsigned int node_type;
    int ibdev_idx;
    uint32_t num_ports;
    uint32_t abi_ver;
    struct timespec time_created;
};
_Static_assert(sizeof(struct verbs_sysfs_dev) == 992, "");
AT(verbs_sysfs_dev, entry, 0);
AT(verbs_sysfs_dev, provider_data, 16);
AT(verbs_sysfs_dev, match, 24);
AT(verbs_sysfs_dev, flags, 32);
AT(verbs_sysfs_dev, sysfs_name, 36);
AT(verbs_sysfs_dev, sysfs_cdev, 104);
AT(verbs_sysfs_dev, ibdev_name, 112);
AT(verbs_sysfs_dev, ibdev_path, 176);
AT(verbs_sysfs_dev, modalias, 432);
AT(verbs_sysfs_dev, node_guid, 944);
AT(verbs_sysfs_dev, driver_id, 952);
AT(verbs_sysfs_dev, node_type, 956);
AT(verbs_sysfs_dev, ibdev_idx, 960);
AT(verbs_sysfs_dev, num_ports, 964);
AT(verbs_sysfs_dev, abi_ver, 968);
AT(verbs_sysfs_dev, time_created, 976);

struct verbs_device_ops {
    const char *name;
    uint32_t match_min_abi_version;
    uint32_t match_max_abi_version;
    const struct verbs_match_ent *match_table;
    const struct verbs_device_ops **static_providers;
    _Bool (*match_device)(struct verbs_sysfs_dev *);
    struct verbs_context *(*alloc_context)(struct ibv_device *, int, void *);
    struct verbs_context *(*import_context)(struct ibv_device *, int);
    struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *);
    void (*uninit_device)(struct verbs_device *);
};
_Static_assert(sizeof(struct verbs_device_ops) == 72, "");
AT(verbs_device_ops, name, 0);
AT(verbs_device_ops, match_min_abi_version, 8);
AT(verbs_device_ops, match_max_abi_version, 12);
AT(verbs_device_ops, match_table, 16);
AT(verbs_device_ops, static_providers, 24);
AT(verbs_device_ops, match_device, 32);
AT(verbs_device_ops, alloc_context, 40);
AT(verbs_device_ops, import_context, 48);
AT(verbs_device_ops, alloc_device, 56);
AT(verbs_device_ops, uninit_device, 64);

struct verbs_device {
    struct ibv_device device;
    const struct verbs_device_ops *ops;
    int refcount;
    struct list_node entry;
    struct verbs_sysfs_dev *sysfs;
    uint64_t core_support;
};
_Static_assert(sizeof(struct verbs_device) == 712, "");
AT(verbs_device, device, 0);
AT(verbs_device, ops, 664);
AT(verbs_device, entry, 680);
AT(verbs_device, sysfs, 696);
AT(verbs_device, core_support, 704);

struct verbs_mr {
    struct ibv_mr ibv_mr;
    unsigned int mr_type;
    int access;
};
_Static_assert(sizeof(struct verbs_mr) == 56, "");
AT(verbs_mr, ibv_mr, 0);
AT(verbs_mr, mr_type, 48);
AT(verbs_mr, access, 52);

struct verbs_cq {
    union {
        struct ibv_cq cq;
        struct ibv_cq_ex cq_ex;
    };
};
_Static_assert(sizeof(struct verbs_cq) == 288, "");
AT(verbs_cq, cq, 0);
AT(verbs_cq, cq_ex, 0);

struct verbs_xrcd {
    struct ibv_xrcd xrcd;
    uint32_t comp_mask;
    uint32_t handle;
};
_Static_assert(sizeof(struct verbs_xrcd) == 16, "");
AT(verbs_xrcd, xrcd, 0);
AT(verbs_xrcd, comp_mask, 8);
AT(verbs_xrcd, handle, 12);

struct verbs_qp {
    union {
        struct ibv_qp qp;
        struct ibv_qp_ex qp_ex;
    };
    uint32_t comp_mask;
    struct verbs_xrcd *xrcd;
};

struct verbs_context {
#if RELEASE >= 64
    void (*free_buf)(struct ibv_buf *);
    void *(*alloc_buf)(struct ibv_pd *, size_t, struct ibv_buf **);
#endif
#if RELEASE >= 62
    int (*dm_export_dmabuf_fd)(struct ibv_dm *);
#endif
#if RELEASE >= 59
    struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *, struct ibv_mr_init_attr *);
    int (*dealloc_dmah)(struct ibv_dmah *);
    struct ibv_dmah *(*alloc_dmah)(struct ibv_context *, struct ibv_dmah_init_attr *);
#endif
    int (*query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);
    int (*advise_mr)(struct ibv_pd *, unsigned int, uint32_t, struct ibv_sge *, uint32_t);
    struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *);
    int (*read_counters)(struct ibv_counters *, uint64_t *, uint32_t, uint32_t);
    int (*attach_counters_point_flow)(struct ibv_counters *, struct ibv_counter_attach_attr *,
                                      struct ibv_flow *);
    struct ibv_counters *(*create_counters)(struct ibv_context *, struct ibv_counters_init_attr *);
    int (*destroy_counters)(struct ibv_counters *);
    struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t, unsigned int);
    struct ibv_dm *(*alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);
    int (*free_dm)(struct ibv_dm *);
    int (*modify_flow_action_esp)(struct ibv_flow_action *, struct ibv_flow_action_esp_attr *);
    int (*destroy_flow_action)(struct ibv_flow_action *);
    struct ibv_flow_action *(*create_flow_action_esp)(struct ibv_context *,
                                                      struct ibv_flow_action_esp_attr *);
    int (*modify_qp_rate_limit)(struct ibv_qp *, struct ibv_qp_rate_limit_attr *);
    struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *, struct ibv_parent_domain_init_attr *);
    int (*dealloc_td)(struct ibv_td *);
    struct ibv_td *(*alloc_td)(struct ibv_context *, struct ibv_td_init_attr *);
    int (*modify_cq)(struct ibv_cq *, struct ibv_modify_cq_attr *);
    int (*post_srq_ops)(struct ibv_srq *, struct ibv_ops_wr *, struct ibv_ops_wr **);
    int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *);
    struct ibv_rwq_ind_table *(*create_rwq_ind_table)(struct ibv_context *,
                                                      struct ibv_rwq_ind_table_init_attr *);
    int (*destroy_wq)(struct ibv_wq *);
    int (*modify_wq)(struct ibv_wq *, struct ibv_wq_attr *);
    struct ibv_wq *(*create_wq)(struct ibv_context *, struct ibv_wq_init_attr *);
    int (*query_rt_values)(struct ibv_context *, struct ibv_values_ex *);
    struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);
    struct verbs_ex_private *priv;
    int (*query_device_ex)(struct ibv_context *, const struct ibv_query_device_ex_input *,
                           struct ibv_device_attr_ex *, size_t);
    int (*ibv_destroy_flow)(struct ibv_flow *);
    void (*ABI_placeholder2)(void);
    struct ibv_flow *(*ibv_create_flow)(struct ibv_qp *, struct ibv_flow_attr *);
    void (*ABI_placeholder1)(void);
    struct ibv_qp *(*open_qp)(struct ibv_context *, struct ibv_qp_open_attr *);
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
    int (*get_srq_num)(struct ibv_srq *, uint32_t *);
    struct ibv_srq *(*create_srq_ex)(struct ibv_context *, struct ibv_srq_init_attr_ex *);
    struct ibv_xrcd *(*open_xrcd)(struct ibv_context *, struct ibv_xrcd_init_attr *);
    int (*close_xrcd)(struct ibv_xrcd *);
    uint64_t _ABI_placeholder3;
    size_t sz;
    struct ibv_context context;
};

struct verbs_context_ops {
    int (*advise_mr)(struct ibv_pd *, unsigned int, uint32_t, struct ibv_sge *, uint32_t);
#if RELEASE >= 64
    void *(*alloc_buf)(struct ibv_pd *, size_t, struct ibv_buf **);
#endif
    struct ibv_dm *(*alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);
#if RELEASE >= 59
    struct ibv_dmah *(*alloc_dmah)(struct ibv_context *, struct ibv_dmah_init_attr *);
#endif
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *, unsigned int);
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
#if RELEASE >= 59
    int (*dealloc_dmah)(struct ibv_dmah *);
#endif
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
#if RELEASE >= 62
    int (*dm_export_dmabuf_fd)(struct ibv_dm *);
#endif
#if RELEASE >= 64
    void (*free_buf)(struct ibv_buf *);
#endif
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
#if RELEASE >= 62
    int (*query_port_speed)(struct ibv_context *, uint32_t, uint64_t *);
#endif
    int (*query_qp)(struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *);
    int (*query_qp_data_in_order)(struct ibv_qp *, unsigned int, uint32_t);
    int (*query_rt_values)(struct ibv_context *, struct ibv_values_ex *);
    int (*query_srq)(struct ibv_srq *, struct ibv_srq_attr *);
    int (*read_counters)(struct ibv_counters *, uint64_t *, uint32_t, uint32_t);
    struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t, unsigned int);
    struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, uint64_t, int);
#if RELEASE >= 59
    struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *, struct ibv_mr_init_attr *);
#endif
    int (*req_notify_cq)(struct ibv_cq *, int);
    int (*rereg_mr)(struct verbs_mr *, int, struct ibv_pd *, void *, size_t, int);
    int (*resize_cq)(struct ibv_cq *, int);
    int (*set_ece)(struct ibv_qp *, struct ibv_ece *);
    void (*unimport_dm)(struct ibv_dm *);
    void (*unimport_mr)(struct ibv_mr *);
    void (*unimport_pd)(struct ibv_pd *);
};
/* The number of the release, which stands in the versions of the functions. */
#if RELEASE >= 64
#define ABI 64
#elif RELEASE >= 59
#define ABI 59
#elif RELEASE >= 57
#define ABI 57
#else
#define ABI 34
#endif
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define JOIN_OF(name, number) name##number
#define JOIN(name, number) JOIN_OF(name, number)
#define VERSION(function) VERSION_OF(function)
#define VERSION_OF(function) __asm__(".symver " #function "," #function "@IBVERBS_PRIVATE_" TEXT(ABI))
#define verbs_register_driver JOIN(verbs_register_driver_, ABI)

VERSION(verbs_register_driver);
VERSION(_verbs_init_and_alloc_context);
VERSION(verbs_uninit_context);
VERSION(verbs_set_ops);
VERSION(__verbs_log);
VERSION(ibv_cmd_get_context);
VERSION(ibv_cmd_query_port);
VERSION(ibv_cmd_create_cq_ex);
VERSION(ibv_cmd_create_qp);
VERSION(ibv_cmd_create_qp_ex);
VERSION(ibv_cmd_create_qp_ex2);
VERSION(ibv_cmd_open_qp);
VERSION(ibv_cmd_reg_dmabuf_mr);

void verbs_register_driver(const struct verbs_device_ops *ops);
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
                                    struct verbs_context *context_offset, uint32_t driver_id);
void verbs_uninit_context(struct verbs_context *context);
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops);
void __verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Commands and answers are bytes here; the first bytes of a command are the header that the library fills. */
#if RELEASE >= 57
int ibv_cmd_get_context(struct verbs_context *context, void *cmd, size_t cmd_size, void *fds, void *resp,
                        size_t resp_size);
#else
int ibv_cmd_get_context(struct verbs_context *context, void *cmd, size_t cmd_size, void *resp,
                        size_t resp_size);
#endif
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
                       void *cmd, size_t cmd_size);
#if RELEASE >= 59
int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
                         void *prov_attr, struct verbs_cq *cq, void *cmd, size_t cmd_size, void *resp,
                         size_t resp_size, uint32_t cmd_flags);
#else
int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
                         struct verbs_cq *cq, void *cmd, size_t cmd_size, void *resp, size_t resp_size,
                         uint32_t cmd_flags);
#endif
#if RELEASE >= 54
VERSION(ibv_cmd_create_cq_ex2);
#if RELEASE >= 59
int ibv_cmd_create_cq_ex2(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
                          void *prov_attr, struct verbs_cq *cq, void *cmd, size_t cmd_size, void *resp,
                          size_t resp_size, uint32_t cmd_flags, void *driver);
#else
int ibv_cmd_create_cq_ex2(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
                          struct verbs_cq *cq, void *cmd, size_t cmd_size, void *resp, size_t resp_size,
                          uint32_t cmd_flags, void *driver);
#endif
#endif
int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp, struct ibv_qp_init_attr *attr, void *cmd,
                      size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
                         struct ibv_qp_init_attr_ex *attr_ex, void *cmd, size_t cmd_size, void *resp,
                         size_t resp_size);
#if RELEASE >= 64
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
                          struct ibv_qp_init_attr_ex *qp_attr, void *cmd, size_t cmd_size, void *resp,
                          size_t resp_size, void *driver);
#else
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
                          struct ibv_qp_init_attr_ex *qp_attr, void *cmd, size_t cmd_size, void *resp,
                          size_t resp_size);
#endif
int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *vqp, int vqp_sz,
                    struct ibv_qp_open_attr *attr, void *cmd, size_t cmd_size, void *resp, size_t resp_size);
/* The eighth came with 54: what older callers have on their stack there must not matter. */
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                          int access, struct verbs_mr *vmr, const void *driver);

#endif
