/* SPDX-License-Identifier: BSD-2-Clause */
/* What a provider includes: the objects that it embeds, the ops that it fills, the functions that it may
 * call. */
#ifndef INFINIBAND_DRIVER_H
#define INFINIBAND_DRIVER_H

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layouts in this file are those of provider ABI 65; a plugin is a file libNAME-rdmav65.so. ABI-frozen.
 */
#define VERBS_PROVIDER_ABI 65

/* ---- lists, only as members that the library links; providers leave them alone ---- */

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};

/* ---- devices ---- */

enum verbs_match_kind {
    VERBS_MATCH_SENTINEL = 0, /* ends a table */
    VERBS_MATCH_PCI = 1,      /* vendor and device are the PCI ids of the device */
    VERBS_MATCH_MODALIAS = 2, /* the modalias of the device fits the glob pattern u.modalias */
    VERBS_MATCH_DRIVER_ID = 3 /* the kernel driver behind the device is u.driver_id (enum rdma_driver_id) */
};

/* One row of the table with which a provider says which devices are its own. */
struct verbs_match_ent {
    void *driver_data; /* the provider's own; reaches it through verbs_sysfs_dev.match */
    union {
        const char *modalias;
        uint64_t driver_id;
    } u;
    uint16_t vendor;
    uint16_t device;
    uint8_t kind; /* enum verbs_match_kind */
};

enum {
    VSYSFS_READ_MODALIAS = 1 << 0, /* modalias was looked up, whether there is one or not */
    VSYSFS_READ_NODE_GUID = 1 << 1 /* node_guid was looked up */
};

/* A device as discovery found it. The library owns it; it lives as long as the verbs_device that points to
 * it. */
struct verbs_sysfs_dev {
    struct list_node entry;
    void *provider_data; /* the provider's own, set in match_device and read in alloc_device */
    const struct verbs_match_ent *match;
    unsigned int flags;
    char sysfs_name[IBV_SYSFS_NAME_MAX]; /* uverbsN */
    dev_t sysfs_cdev;                    /* of the uverbs character device; 0 if unknown */
    char ibdev_name[IBV_SYSFS_NAME_MAX];
    char ibdev_path[IBV_SYSFS_PATH_MAX]; /* /sys/class/infiniband/NAME */
    char modalias[512];
    uint64_t node_guid; /* in host byte order */
    uint32_t driver_id; /* enum rdma_driver_id; 0 if unknown */
    enum ibv_node_type node_type;
    int ibdev_idx; /* the kernel's index of the device; -1 if unknown */
    uint32_t num_ports;
    uint32_t abi_ver; /* of the driver's user interface; what match_min/max_abi_version are compared with */
    struct timespec time_created;
};

struct verbs_device;
struct verbs_context;

/*
 * What a provider registers. It must stay valid until the process ends.
 *
 * match_device: decides alone if set; otherwise match_table does.
 * alloc_device: returns calloc'd memory that starts with a verbs_device, or NULL and errno. The library fills in
 *   the rest and gives it back through uninit_device, which may be NULL: then it is left alone.
 * alloc_context: opens the device. Makes a context with VERBS_INIT_AND_ALLOC_CONTEXT, which takes cmd_fd over,
 *   issues ibv_cmd_get_context and calls verbs_set_ops. Returns NULL and errno.
 * import_context: the same for a command fd that another process opened; may be NULL.
 */
struct verbs_device_ops {
    const char *name;
    uint32_t match_min_abi_version;
    uint32_t match_max_abi_version;
    const struct verbs_match_ent *match_table;
    const struct verbs_device_ops **static_providers; /* only in statically linked programs */
    bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
    struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd, void *private_data);
    struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);
    struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
    void (*uninit_device)(struct verbs_device *device);
};

/* A device as the provider made it; the library counts references and calls uninit_device after the last one.
 */
struct verbs_device {
    struct ibv_device device; /* must be first */
    const struct verbs_device_ops *ops;
    int refcount;
    struct list_node entry;
    struct verbs_sysfs_dev *sysfs;
    uint64_t core_support; /* enum ib_uverbs_core_support: what the kernel offers to every device */
};

static __inline__ struct verbs_device *verbs_get_device(const struct ibv_device *device)
{
    return (struct verbs_device *)(uintptr_t)device;
}

/* ---- objects that are larger inside than verbs.h shows ---- */

enum ibv_mr_type {
    IBV_MR_TYPE_MR,
    IBV_MR_TYPE_NULL_MR,
    IBV_MR_TYPE_IMPORTED_MR,
    IBV_MR_TYPE_DMABUF_MR,
    IBV_MR_TYPE_DM_MR /* of device memory; the reference calls it IBV_MR_TYPE_MR */
};

struct verbs_mr {
    struct ibv_mr ibv_mr;
    enum ibv_mr_type mr_type;
    int access;
};

enum verbs_xrcd_mask { VERBS_XRCD_HANDLE = 1 << 0 /* verbs_xrcd.handle is valid */ };

struct verbs_xrcd {
    struct ibv_xrcd xrcd;
    uint32_t comp_mask; /* enum verbs_xrcd_mask */
    uint32_t handle;
};

struct verbs_srq {
    struct ibv_srq srq;
    enum ibv_srq_type srq_type;
    struct verbs_xrcd *xrcd;
    struct ibv_cq *cq;
    uint32_t srq_num;
};

struct verbs_cq {
    union {
        struct ibv_cq cq;
        struct ibv_cq_ex cq_ex;
    };
};

enum verbs_qp_mask {
    VERBS_QP_XRCD = 1 << 0, /* verbs_qp.xrcd is valid */
    VERBS_QP_EX = 1 << 1    /* verbs_qp.qp_ex is set up: ibv_qp_to_qp_ex succeeds */
};

struct verbs_qp {
    union {
        struct ibv_qp qp;
        struct ibv_qp_ex qp_ex;
    };
    uint32_t comp_mask; /* enum verbs_qp_mask */
    struct verbs_xrcd *xrcd;
};

struct verbs_dm {
    struct ibv_dm dm;
    uint32_t handle;
};

struct verbs_dmah {
    struct ibv_dmah dmah;
    uint32_t handle;
};

struct verbs_counters {
    struct ibv_counters counters;
    uint32_t handle;
};

enum ibv_flow_action_type { IBV_FLOW_ACTION_UNSPECIFIED, IBV_FLOW_ACTION_ESP = 1 };

struct verbs_flow_action {
    struct ibv_flow_action action;
    uint32_t handle;
    enum ibv_flow_action_type type;
};

static __inline__ struct verbs_mr *verbs_get_mr(struct ibv_mr *mr)
{
    return (struct verbs_mr *)mr;
}

/* ---- ops ---- */

/*
 * What a context can do, in alphabetical order. A provider passes a table to verbs_set_ops in which the ops
 * that it lacks are NULL; the context's own table then has the library's default for those, which answers
 * EOPNOTSUPP. Each op has the contract of the verb of the same name; where the library has already checked
 * arguments, it says so at the verb. Ops that return int return 0 or a positive errno value, ops that return
 * a pointer set errno.
 */
struct verbs_context_ops {
    int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *sg_list, uint32_t num_sges);
    void *(*alloc_buf)(struct ibv_pd *pd, size_t length, struct ibv_buf **buf);
    struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
    struct ibv_dmah *(*alloc_dmah)(struct ibv_context *context, struct ibv_dmah_init_attr *attr);
    struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
    struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
    struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr);
    struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
    struct ibv_td *(*alloc_td)(struct ibv_context *context, struct ibv_td_init_attr *init_attr);
    void (*async_event)(struct ibv_context *context, struct ibv_async_event *event);
    int (*attach_counters_point_flow)(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
                                      struct ibv_flow *flow);
    int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
    int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
    int (*close_xrcd)(struct ibv_xrcd *xrcd);
    void (*cq_event)(struct ibv_cq *cq);
    struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
    struct ibv_comp_cntr *(*create_comp_cntr)(struct ibv_context *context,
                                              struct ibv_comp_cntr_init_attr *attr);
    struct ibv_counters *(*create_counters)(struct ibv_context *context,
                                            struct ibv_counters_init_attr *init_attr);
    struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
                                int comp_vector);
    struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context, struct ibv_cq_init_attr_ex *init_attr);
    struct ibv_flow *(*create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *attr);
    struct ibv_flow_action *(*create_flow_action_esp)(struct ibv_context *context,
                                                      struct ibv_flow_action_esp_attr *attr);
    struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
    struct ibv_rwq_ind_table *(*create_rwq_ind_table)(struct ibv_context *context,
                                                      struct ibv_rwq_ind_table_init_attr *init_attr);
    struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);
    struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
                                     struct ibv_srq_init_attr_ex *srq_init_attr_ex);
    struct ibv_wq *(*create_wq)(struct ibv_context *context, struct ibv_wq_init_attr *wq_init_attr);
    int (*dealloc_dmah)(struct ibv_dmah *dmah);
    int (*dealloc_mw)(struct ibv_mw *mw);
    int (*dealloc_pd)(struct ibv_pd *pd);
    int (*dealloc_td)(struct ibv_td *td);
    int (*dereg_mr)(struct verbs_mr *vmr);
    int (*destroy_ah)(struct ibv_ah *ah);
    int (*destroy_comp_cntr)(struct ibv_comp_cntr *comp_cntr);
    int (*destroy_counters)(struct ibv_counters *counters);
    int (*destroy_cq)(struct ibv_cq *cq);
    int (*destroy_flow)(struct ibv_flow *flow);
    int (*destroy_flow_action)(struct ibv_flow_action *action);
    int (*destroy_qp)(struct ibv_qp *qp);
    int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *rwq_ind_table);
    int (*destroy_srq)(struct ibv_srq *srq);
    int (*destroy_wq)(struct ibv_wq *wq);
    int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
    int (*dm_export_dmabuf_fd)(struct ibv_dm *dm);
    void (*free_buf)(struct ibv_buf *buf);
    void (*free_context)(struct ibv_context *context);
    int (*free_dm)(struct ibv_dm *dm);
    int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
    struct ibv_dm *(*import_dm)(struct ibv_context *context, uint32_t dm_handle);
    struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t mr_handle);
    struct ibv_pd *(*import_pd)(struct ibv_context *context, uint32_t pd_handle);
    int (*inc_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
    int (*inc_err_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
    int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
    int (*modify_flow_action_esp)(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr);
    int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
    int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
    int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask);
    int (*modify_wq)(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr);
    struct ibv_qp *(*open_qp)(struct ibv_context *context, struct ibv_qp_open_attr *attr);
    struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context, struct ibv_xrcd_init_attr *xrcd_init_attr);
    int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
    int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
    int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
    int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);
    int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr, struct ibv_recv_wr **bad_recv_wr);
    int (*qp_attach_comp_cntr)(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
                               struct ibv_qp_attach_comp_cntr_attr *attr);
    int (*query_comp_cntr_caps)(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
                                size_t caps_size);
    int (*query_device_ex)(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_size);
    int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
    int (*query_port)(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr);
    int (*query_port_speed)(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);
    int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
                    struct ibv_qp_init_attr *init_attr);
    int (*query_qp_data_in_order)(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
    int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
    int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr);
    int (*read_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
    int (*read_counters)(struct ibv_counters *counters, uint64_t *counters_value, uint32_t ncounters,
                         uint32_t flags);
    int (*read_err_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
    struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length,
                                unsigned int access);
    struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                    int access);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
    struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);
    int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
    int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
                    int access);
    int (*resize_cq)(struct ibv_cq *cq, int cqe);
    int (*set_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t value);
    int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
    int (*set_err_comp_cntr)(struct ibv_comp_cntr *comp_cntr, uint64_t value);
    void (*unimport_dm)(struct ibv_dm *dm);
    void (*unimport_mr)(struct ibv_mr *mr);
    void (*unimport_pd)(struct ibv_pd *pd);
};

/* Merges the non-NULL ops into the context's table. May be called more than once; the last one wins. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops);

/* ---- registering, contexts ---- */

/* Called from a constructor of the plugin; ops must stay valid. Registering the same ops twice has no effect.
 */
void verbs_register_driver_65(const struct verbs_device_ops *ops);

/* Registers OPS when the plugin is loaded. */
#define PROVIDER_DRIVER(ops)                                               \
    static __attribute__((constructor)) void verbs_register_provider(void) \
    {                                                                      \
        verbs_register_driver_65(&(ops));                                  \
    }

/*
 * Allocates alloc_size zeroed bytes and sets up the verbs_context that lies at context_offset in them. The result
 * is NULL and errno, or the provider's context, which verbs_uninit_context empties and the provider frees. The
 * context owns cmd_fd from the call on: it is closed here on failure, by verbs_uninit_context else.
 */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
                                    struct verbs_context *context_offset, uint32_t driver_id);

/* The same for TYPE, whose member MEMBER is the verbs_context. */
#define VERBS_INIT_AND_ALLOC_CONTEXT(device, cmd_fd, type, member, driver_id) \
    ((type *)_verbs_init_and_alloc_context(                                   \
        device, cmd_fd, sizeof(type), (struct verbs_context *)(uintptr_t)offsetof(type, member), driver_id))

/*
 * Undoes the above, memory excepted, and closes the context's files: what free_context, and alloc_context when it
 * fails later on, do last before they free their memory.
 */
void verbs_uninit_context(struct verbs_context *vctx);

/*
 * Prepares a CQ for events. The library calls it for what the ops create_cq and create_cq_ex return; only a
 * provider that hands out CQs by functions of its own needs it.
 */
void verbs_init_cq(struct ibv_cq *cq, struct ibv_context *context, struct ibv_comp_channel *channel,
                   void *cq_context);

/* ---- small private verbs ---- */

enum ibv_gid_type_sysfs { IBV_GID_TYPE_SYSFS_IB_ROCE_V1, IBV_GID_TYPE_SYSFS_ROCE_V2 };

/* The type of a GID as sysfs tells types apart; 0, or -1 and errno (ENODATA for an empty entry). */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                       enum ibv_gid_type_sysfs *type);

/* Opens a device with data for its provider's alloc_context; as ibv_open_device otherwise. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

/* ---- sysfs --------------------------------------------------------------------------------------------------- */

/* Where sysfs is mounted: SYSFS_PATH, else /sys. */
const char *ibv_get_sysfs_path(void);

/*
 * Reads DIR/FILE into buf, without a trailing newline and with a terminating zero. Returns the length of the text,
 * or -1 and errno: EOVERFLOW where it does not fit.
 */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

/* The same for the file that fnfmt and what follows name, below the device's sysfs directory. */
int ibv_read_ibdev_sysfs_file(char *buf, size_t size, struct verbs_sysfs_dev *sysfs_dev, const char *fnfmt,
                              ...) __attribute__((format(printf, 4, 5)));

/* ---- log ---- */

enum { VERBS_LOG_LEVEL_NONE, VERBS_LOG_ERR, VERBS_LOG_WARN, VERBS_LOG_INFO, VERBS_LOG_DEBUG };

/* One line to the verbs log, where VERBS_LOG_LEVEL asks for the level. Keeps errno. */
void __verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The verb that a work request asks for, in words; "unknown" for other values. */
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);

/* ---- fork protection ---- */

/*
 * For memory that a device writes to and that is no MR, such as queues. The first withholds the pages of the
 * range from children where fork protection is on; the second, called once for each call of the first with
 * the same range, gives them back. 0, or -1 and errno, and then nothing has changed. Any thread.
 */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

/* ---- kernel commands ---- */

/*
 * Each ibv_cmd_* function issues one command for the object that the provider hands in, and fills the
 * object's public members from the answer. They return 0 or a positive errno value; those that make an object
 * also set errno to it.
 *
 * CMD and CMD_SIZE: a struct that starts with the command below and goes on with the driver's own input; the
 * library writes its first part. RESP and RESP_SIZE: the same for the answer. Either may be the bare struct,
 * and where a driver has neither, the size is that of the bare struct.
 */
struct ex_hdr {
    struct ib_uverbs_cmd_hdr hdr;
    struct ib_uverbs_ex_cmd_hdr ex_hdr;
};

#define VERBS_COMMAND(name, header, core) \
    struct name {                         \
        struct header hdr;                \
        struct core core_payload;         \
    }

VERBS_COMMAND(ibv_alloc_mw, ib_uverbs_cmd_hdr, ib_uverbs_alloc_mw);
VERBS_COMMAND(ibv_alloc_pd, ib_uverbs_cmd_hdr, ib_uverbs_alloc_pd);
VERBS_COMMAND(ibv_create_cq, ib_uverbs_cmd_hdr, ib_uverbs_create_cq);
VERBS_COMMAND(ibv_create_cq_ex, ex_hdr, ib_uverbs_ex_create_cq);
VERBS_COMMAND(ibv_create_qp, ib_uverbs_cmd_hdr, ib_uverbs_create_qp);
VERBS_COMMAND(ibv_create_qp_ex, ex_hdr, ib_uverbs_ex_create_qp);
VERBS_COMMAND(ibv_create_srq, ib_uverbs_cmd_hdr, ib_uverbs_create_srq);
VERBS_COMMAND(ibv_create_wq, ex_hdr, ib_uverbs_ex_create_wq);
VERBS_COMMAND(ibv_create_xsrq, ib_uverbs_cmd_hdr, ib_uverbs_create_xsrq);
VERBS_COMMAND(ibv_get_context, ib_uverbs_cmd_hdr, ib_uverbs_get_context);
VERBS_COMMAND(ibv_modify_cq, ex_hdr, ib_uverbs_ex_modify_cq);
VERBS_COMMAND(ibv_modify_qp, ib_uverbs_cmd_hdr, ib_uverbs_modify_qp);
VERBS_COMMAND(ibv_modify_qp_ex, ex_hdr, ib_uverbs_ex_modify_qp);
VERBS_COMMAND(ibv_modify_srq, ib_uverbs_cmd_hdr, ib_uverbs_modify_srq);
VERBS_COMMAND(ibv_modify_wq, ex_hdr, ib_uverbs_ex_modify_wq);
VERBS_COMMAND(ibv_open_qp, ib_uverbs_cmd_hdr, ib_uverbs_open_qp);
VERBS_COMMAND(ibv_open_xrcd, ib_uverbs_cmd_hdr, ib_uverbs_open_xrcd);
VERBS_COMMAND(ibv_query_port, ib_uverbs_cmd_hdr, ib_uverbs_query_port);
VERBS_COMMAND(ibv_query_qp, ib_uverbs_cmd_hdr, ib_uverbs_query_qp);
VERBS_COMMAND(ibv_query_srq, ib_uverbs_cmd_hdr, ib_uverbs_query_srq);
VERBS_COMMAND(ibv_reg_mr, ib_uverbs_cmd_hdr, ib_uverbs_reg_mr);
VERBS_COMMAND(ibv_rereg_mr, ib_uverbs_cmd_hdr, ib_uverbs_rereg_mr);
VERBS_COMMAND(ibv_resize_cq, ib_uverbs_cmd_hdr, ib_uverbs_resize_cq);

/*
 * Part of an ioctl command: attributes that a provider filled in, from hdr.attrs up to next_attr, with room for
 * more up to last_attr. The attributes stand directly behind the buffer in memory. Buffers are linked through
 * `next`; a command is the attributes of all of them.
 *
 * As the argument `driver` or `link` of an ibv_cmd_* function it holds the driver's own attributes of the
 * command, behind those of the library; NULL where there are none. The kernel's answers in the attributes
 * (handles of new objects, UVERBS_ATTR_F_VALID_OUTPUT) are there when the function returns 0.
 */
struct ibv_command_buffer {
    struct ibv_command_buffer *next;
    struct ib_uverbs_attr *next_attr;
    struct ib_uverbs_attr *last_attr;
    uint8_t uhw_in_idx;  /* which attribute is the driver's plain request; 0xff: none */
    uint8_t uhw_out_idx; /* and its answer */
    uint8_t uhw_in_headroom_dwords;
    uint8_t uhw_out_headroom_dwords;
    uint8_t buffer_error : 1;        /* an attribute could not be filled in: the command fails with EINVAL */
    uint8_t fallback_require_ex : 1; /* has what only an extended write command can carry */
    uint8_t fallback_ioctl_only : 1; /* has what no write command can carry */
    struct ib_uverbs_ioctl_hdr hdr;  /* object_id and method_id of the first buffer name the command */
};

/*
 * Issues the command that starts at `cmd`; the library fills in the rest of its header. 0 or a positive errno
 * value.
 */
int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd);

/* num_attrs and the number of attributes in all buffers of the chain `link`, which may be NULL. */
unsigned int __ioctl_final_num_attrs(unsigned int num_attrs, struct ibv_command_buffer *link);

/*
 * Whether destroying an object of a device that is gone (EIO) counts as success: the kernel has destroyed it by
 * then. Set from the environment variable RDMAV_ALLOW_DISASSOC_DESTROY.
 */
extern bool verbs_allow_disassociate_destroy;

/* File descriptors that a command is to be issued with; NULL for the context's own. */
struct ibv_fd_arr {
    int *arr;
    uint32_t count;
};

enum verbs_create_cq_cmd_flags {
    VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS =
        1 << 0,                            /* old kernels, whose plain command has none, may do without */
    VERBS_CREATE_CQ_BUFFER_VA = 1 << 1,    /* prov_attr has memory of this process */
    VERBS_CREATE_CQ_BUFFER_DMABUF = 1 << 2 /* prov_attr has a dma-buf */
};

/* The provider's own memory for a CQ's entries, as the flags say. */
struct verbs_create_cq_prov_attr {
    struct {
        uint64_t length;
        union {
            uint8_t *ptr;
            struct {
                uint64_t offset;
                int fd;
            } dmabuf;
        };
    } buffer;
};

/* Sets cmd_fd's context up in the kernel; fills async_fd and num_comp_vectors. fds: NULL, or files that the
 * driver wants with it: EOPNOTSUPP on kernels without the ioctl. */
int ibv_cmd_get_context(struct verbs_context *vctx, struct ibv_get_context *cmd, size_t cmd_size,
                        struct ibv_fd_arr *fds, struct ib_uverbs_get_context_resp *resp, size_t resp_size);

/*
 * Fills as much of attr as attr_size covers. Where the kernel has no extended query, the extended part is
 * zero. resp may be NULL; else *resp_size is its size, and becomes the size that the kernel filled in.
 */
int ibv_cmd_query_device_any(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                             struct ibv_device_attr_ex *attr, size_t attr_size,
                             struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size);
/* Issues the query for an imported context, with the driver's attributes; fills num_comp_vectors. */
int ibv_cmd_query_context(struct ibv_context *context, struct ibv_command_buffer *driver);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
                       struct ibv_query_port *cmd, size_t cmd_size);

/* EOPNOTSUPP on kernels that cannot tell. */
int ibv_cmd_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
                     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
                   struct verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
                   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
/*
 * Memory of this process or a dma-buf, with a DMA handle (a verbs_dmah) where attr has one; the library has
 * replaced an ibv_buf by where its memory is. EINVAL for members that do not go together, EOPNOTSUPP for DMA
 * handles on older kernels. Any kernel does without one on which ibv_cmd_reg_mr or ibv_cmd_reg_dmabuf_mr works.
 */
int ibv_cmd_reg_mr_ex(struct ibv_pd *pd, struct verbs_mr *vmr, struct ibv_mr_init_attr *attr);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr, size_t length, uint64_t hca_va,
                     int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_size,
                     struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
/* Fills the keys and the length of an MR that another process registered, from its handle. */
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t mr_handle);
int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                      struct ibv_sge *sg_list, uint32_t num_sge);
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                          int access, struct verbs_mr *vmr, struct ibv_command_buffer *driver);
int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset, size_t length,
                      unsigned int access, struct verbs_mr *vmr, struct ibv_command_buffer *link);

int ibv_cmd_alloc_dm(struct ibv_context *context, const struct ibv_alloc_dm_attr *dm_attr,
                     struct verbs_dm *dm, struct ibv_command_buffer *link);
int ibv_cmd_free_dm(struct verbs_dm *dm);
/* A new dma-buf descriptor for what mmap of the device gives at page `pgoff`; -1 and errno. */
int ibv_cmd_export_dmabuf_fd(struct ibv_context *context, off_t pgoff);

/* EOPNOTSUPP on kernels without DMA handles. */
int ibv_cmd_alloc_dmah(struct ibv_context *context, struct verbs_dmah *dmah, struct ibv_dmah_init_attr *attr);
int ibv_cmd_free_dmah(struct verbs_dmah *dmah);

/*
 * Memory that a confidential guest shares with its host, for alloc_buf: the heap (NULL and errno where the
 * kernel has none), zeroed memory with its dma-buf (NULL and errno), and both given back.
 */
struct ibv_dmabuf_heap;
struct ibv_dmabuf_heap *ibv_dmabuf_heap_cc_shared_init(void);
void ibv_dmabuf_heap_destroy(struct ibv_dmabuf_heap *heap);
void *ibv_dmabuf_heap_alloc(struct ibv_dmabuf_heap *heap, size_t size, int *dmabuf_fd);
void ibv_dmabuf_heap_free(void *addr, size_t size, int dmabuf_fd);

int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw, struct ibv_alloc_mw *cmd,
                     size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);

int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel, int comp_vector,
                      struct ibv_cq *cq, struct ibv_create_cq *cmd, size_t cmd_size,
                      struct ib_uverbs_create_cq_resp *resp, size_t resp_size);
/* cmd_flags: enum verbs_create_cq_cmd_flags; prov_attr may be NULL where they name no buffer. */
int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
                         struct verbs_create_cq_prov_attr *prov_attr, struct verbs_cq *cq,
                         struct ibv_create_cq_ex *cmd, size_t cmd_size,
                         struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t cmd_flags);
/* The same with attributes of the driver, which only kernels with ioctl take: EOPNOTSUPP without. So it is
 * with a buffer. */
int ibv_cmd_create_cq_ex2(struct ibv_context *context, const struct ibv_cq_init_attr_ex *cq_attr,
                          struct verbs_create_cq_prov_attr *prov_attr, struct verbs_cq *cq,
                          struct ibv_create_cq_ex *cmd, size_t cmd_size,
                          struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t cmd_flags,
                          struct ibv_command_buffer *driver);
int ibv_cmd_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int ibv_cmd_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr, struct ibv_modify_cq *cmd,
                      size_t cmd_size);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
                      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size);
/* Waits until every event of the CQ was acknowledged. */
int ibv_cmd_destroy_cq(struct ibv_cq *cq);

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
                       struct ibv_create_srq *cmd, size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
                       size_t resp_size);
/* An SRQ of any type; it is registered for ibv_get_srq_num (vsrq->srq_num). */
int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *vsrq,
                          struct ibv_srq_init_attr_ex *attr_ex, struct ibv_create_xsrq *cmd, size_t cmd_size,
                          struct ib_uverbs_create_srq_resp *resp, size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask,
                       struct ibv_modify_srq *cmd, size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, struct ibv_query_srq *cmd,
                      size_t cmd_size);
/* Waits until every event of the SRQ was acknowledged. */
int ibv_cmd_destroy_srq(struct ibv_srq *srq);

int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp, struct ibv_qp_init_attr *attr,
                      struct ibv_create_qp *cmd, size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
                      size_t resp_size);
/* Fits answers of drivers that know only the plain create command: the driver's part follows the plain
 * answer. */
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
                         struct ibv_qp_init_attr_ex *attr_ex, struct ibv_create_qp *cmd, size_t cmd_size,
                         struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
                          struct ibv_qp_init_attr_ex *attr_ex, struct ibv_create_qp_ex *cmd, size_t cmd_size,
                          struct ib_uverbs_ex_create_qp_resp *resp, size_t resp_size,
                          struct ibv_command_buffer *driver);
/* vqp_size: bytes of the provider's object, which may be of a release with a smaller verbs_qp. */
int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *vqp, int vqp_size,
                    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
                    struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
                     struct ibv_qp_init_attr *init_attr, struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_modify_qp *cmd,
                      size_t cmd_size);
int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
                         struct ibv_modify_qp_ex *cmd, size_t cmd_size,
                         struct ib_uverbs_ex_modify_qp_resp *resp, size_t resp_size);
/* Waits until every event of the QP was acknowledged. */
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
/*
 * Post through the kernel. An empty list (wr NULL) posts nothing: it rings the doorbell of a software device
 * that shares its queues with the process.
 */
int ibv_cmd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int ibv_cmd_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int ibv_cmd_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
                      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* vxrcd_size: bytes of the provider's object. */
int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd, int vxrcd_size,
                      struct ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
                      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size);
int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd);

int ibv_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *wq_init_attr, struct ibv_wq *wq,
                      struct ibv_create_wq *cmd, size_t cmd_size, struct ib_uverbs_ex_create_wq_resp *resp,
                      size_t resp_size);
int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr, struct ibv_modify_wq *cmd,
                      size_t cmd_size);
/* Waits until every event of the WQ was acknowledged. */
int ibv_cmd_destroy_wq(struct ibv_wq *wq);

int ibv_cmd_create_rwq_ind_table(struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *init_attr,
                                 struct ibv_rwq_ind_table *rwq_ind_table,
                                 struct ib_uverbs_ex_create_rwq_ind_table_resp *resp, size_t resp_size);
int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table);

/* ucmd and ucmd_size: the driver's own input alone. */
int ibv_cmd_create_flow(struct ibv_qp *qp, struct ibv_flow *flow_id, struct ibv_flow_attr *flow_attr,
                        void *ucmd, size_t ucmd_size);
int ibv_cmd_destroy_flow(struct ibv_flow *flow_id);

int ibv_cmd_create_flow_action_esp(struct ibv_context *ctx, struct ibv_flow_action_esp_attr *attr,
                                   struct verbs_flow_action *flow_action, struct ibv_command_buffer *driver);
int ibv_cmd_modify_flow_action_esp(struct verbs_flow_action *flow_action,
                                   struct ibv_flow_action_esp_attr *attr, struct ibv_command_buffer *driver);
int ibv_cmd_destroy_flow_action(struct verbs_flow_action *action);

int ibv_cmd_create_counters(struct ibv_context *context, struct ibv_counters_init_attr *init_attr,
                            struct verbs_counters *vcounters, struct ibv_command_buffer *link);
/* Fills ncounters values. flags: enum ibv_read_counters_flags. */
int ibv_cmd_read_counters(struct verbs_counters *vcounters, uint64_t *counters_value, uint32_t ncounters,
                          uint32_t flags, struct ibv_command_buffer *link);
int ibv_cmd_destroy_counters(struct verbs_counters *vcounters);

/* EOPNOTSUPP on kernels without completion counters. */
int ibv_cmd_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
                                 size_t caps_size);
int ibv_cmd_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr *comp_cntr,
                             struct ibv_command_buffer *link);
int ibv_cmd_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr);
int ibv_cmd_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);
int ibv_cmd_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);
int ibv_cmd_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
int ibv_cmd_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
int ibv_cmd_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
int ibv_cmd_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
int ibv_cmd_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
                                struct ibv_qp_attach_comp_cntr_attr *attr);

#ifdef __cplusplus
}
#endif

#endif
