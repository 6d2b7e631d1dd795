/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices: which there are, and what they can do (IBTA 11.2.1). */
#ifndef INFINIBAND_VERBS_DEVICE_H
#define INFINIBAND_VERBS_DEVICE_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** What kind of node a device makes its host. */
enum ibv_node_type {
    IBV_NODE_UNKNOWN = -1,
    IBV_NODE_CA = 1,
    IBV_NODE_SWITCH,
    IBV_NODE_ROUTER,
    IBV_NODE_RNIC,
    IBV_NODE_USNIC,
    IBV_NODE_USNIC_UDP,
    IBV_NODE_UNSPECIFIED
};

/** The transport protocol that a device speaks; RoCE counts as InfiniBand. */
enum ibv_transport_type {
    IBV_TRANSPORT_UNKNOWN = -1,
    IBV_TRANSPORT_IB = 0,
    IBV_TRANSPORT_IWARP,
    IBV_TRANSPORT_USNIC,
    IBV_TRANSPORT_USNIC_UDP,
    IBV_TRANSPORT_UNSPECIFIED
};

/** Bits of ibv_device_attr.device_cap_flags (IBTA 11.2.1.2). */
enum ibv_device_cap_flags {
    IBV_DEVICE_RESIZE_MAX_WR = 1 << 0,      /* a QP's number of work requests can be changed */
    IBV_DEVICE_BAD_PKEY_CNTR = 1 << 1,      /* counts P_Key violations */
    IBV_DEVICE_BAD_QKEY_CNTR = 1 << 2,      /* counts Q_Key violations */
    IBV_DEVICE_RAW_MULTI = 1 << 3,          /* raw packet multicast */
    IBV_DEVICE_AUTO_PATH_MIG = 1 << 4,      /* automatic path migration */
    IBV_DEVICE_CHANGE_PHY_PORT = 1 << 5,    /* a QP's port can change between SQD and RTS */
    IBV_DEVICE_UD_AV_PORT_ENFORCE = 1 << 6, /* an address handle's port must be the QP's */
    IBV_DEVICE_CURR_QP_STATE_MOD = 1 << 7,  /* heeds IBV_QP_CUR_STATE */
    IBV_DEVICE_SHUTDOWN_PORT = 1 << 8,
    IBV_DEVICE_INIT_TYPE = 1 << 9,
    IBV_DEVICE_PORT_ACTIVE_EVENT = 1 << 10,
    IBV_DEVICE_SYS_IMAGE_GUID = 1 << 11,
    IBV_DEVICE_RC_RNR_NAK_GEN = 1 << 12, /* RNR NAKs for RC */
    IBV_DEVICE_SRQ_RESIZE = 1 << 13,
    IBV_DEVICE_N_NOTIFY_CQ = 1 << 14, /* an event after N completions */
    IBV_DEVICE_MEM_WINDOW = 1 << 17,
    IBV_DEVICE_UD_IP_CSUM = 1 << 18, /* checksums of IPoIB */
    IBV_DEVICE_XRC = 1 << 20,
    IBV_DEVICE_MEM_MGT_EXTENSIONS = 1 << 21, /* base memory management extensions (IBTA 10.6.2) */
    IBV_DEVICE_MEM_WINDOW_TYPE_2A = 1 << 23,
    IBV_DEVICE_MEM_WINDOW_TYPE_2B = 1 << 24,
    IBV_DEVICE_RC_IP_CSUM = 1 << 25,
    IBV_DEVICE_RAW_IP_CSUM = 1 << 26,
    IBV_DEVICE_MANAGED_FLOW_STEERING = 1 << 29
};

/* Bits of ibv_device_attr_ex.device_cap_flags_ex past the 32 of the enum above. */
#define IBV_DEVICE_RAW_SCATTER_FCS (1ULL << 34)
#define IBV_DEVICE_PCI_WRITE_END_PADDING (1ULL << 36)
#define IBV_DEVICE_CC_DMA_BOUNCE (1ULL << 41) /* confidential guest: DMA goes through bounce buffers */

/** With whom atomic operations are atomic (IBTA 11.2.1.2). */
enum ibv_atomic_cap {
    IBV_ATOMIC_NONE, /* there are none */
    IBV_ATOMIC_HCA,  /* among the QPs of this device */
    IBV_ATOMIC_GLOB  /* with everything that accesses the memory */
};

/** Attributes of a device: limits, each the most that can be asked for (IBTA 11.2.1.2). */
struct ibv_device_attr {
    char fw_ver[64];
    __be64 node_guid;
    __be64 sys_image_guid;
    uint64_t max_mr_size;   /* bytes */
    uint64_t page_size_cap; /* a bit per page size, in bytes */
    uint32_t vendor_id;     /* IEEE OUI */
    uint32_t vendor_part_id;
    uint32_t hw_ver;
    int max_qp;
    int max_qp_wr;
    unsigned int device_cap_flags; /* enum ibv_device_cap_flags */
    int max_sge;                   /* of a work request that is not an RDMA READ */
    int max_sge_rd;                /* of an RDMA READ */
    int max_cq;
    int max_cqe;
    int max_mr;
    int max_pd;
    int max_qp_rd_atom;      /* READs and atomics that a QP can serve at a time */
    int max_ee_rd_atom;      /* the same for an end-to-end context */
    int max_res_rd_atom;     /* the same for the whole device */
    int max_qp_init_rd_atom; /* READs and atomics that a QP can have outstanding */
    int max_ee_init_rd_atom;
    enum ibv_atomic_cap atomic_cap;
    int max_ee;
    int max_rdd;
    int max_mw;
    int max_raw_ipv6_qp;
    int max_raw_ethy_qp;
    int max_mcast_grp;
    int max_mcast_qp_attach; /* QPs per multicast group */
    int max_total_mcast_qp_attach;
    int max_ah;
    int max_fmr;
    int max_map_per_fmr;
    int max_srq;
    int max_srq_wr;
    int max_srq_sge;
    uint16_t max_pkeys;
    uint8_t local_ca_ack_delay; /* 4.096 us * 2^value from a request's arrival to its ACK */
    uint8_t phys_port_cnt;      /* 255 may mean more: see phys_port_cnt_ex */
};

/** Reserved for asking ibv_query_device_ex for more; comp_mask is 0. */
struct ibv_query_device_ex_input {
    uint32_t comp_mask;
};

/** Operations for which on-demand paging works, per transport. */
enum ibv_odp_transport_cap_bits {
    IBV_ODP_SUPPORT_SEND = 1 << 0,
    IBV_ODP_SUPPORT_RECV = 1 << 1,
    IBV_ODP_SUPPORT_WRITE = 1 << 2,
    IBV_ODP_SUPPORT_READ = 1 << 3,
    IBV_ODP_SUPPORT_ATOMIC = 1 << 4,
    IBV_ODP_SUPPORT_SRQ_RECV = 1 << 5,
    IBV_ODP_SUPPORT_FLUSH = 1 << 6,
    IBV_ODP_SUPPORT_ATOMIC_WRITE = 1 << 7
};

struct ibv_odp_caps {
    uint64_t general_caps; /* enum ibv_odp_general_caps */
    struct {
        uint32_t rc_odp_caps; /* enum ibv_odp_transport_cap_bits */
        uint32_t uc_odp_caps;
        uint32_t ud_odp_caps;
    } per_transport_caps;
};

enum ibv_odp_general_caps {
    IBV_ODP_SUPPORT = 1 << 0,
    IBV_ODP_SUPPORT_IMPLICIT = 1 << 1 /* an MR of the whole address space */
};

/** TCP segmentation offload. */
struct ibv_tso_caps {
    uint32_t max_tso;        /* bytes of a message; 0: no offload */
    uint32_t supported_qpts; /* a bit per enum ibv_qp_type, see ibv_is_qpt_supported */
};

enum ibv_rx_hash_function_flags { IBV_RX_HASH_FUNC_TOEPLITZ = 1 << 0 };

/**
 * Packet fields that take part in receive-side hashing. IPv4 excludes IPv6 and TCP excludes UDP; INNER moves
 * all the others to the headers inside a tunnel.
 */
__extension__ enum ibv_rx_hash_fields {
    IBV_RX_HASH_SRC_IPV4 = 1 << 0,
    IBV_RX_HASH_DST_IPV4 = 1 << 1,
    IBV_RX_HASH_SRC_IPV6 = 1 << 2,
    IBV_RX_HASH_DST_IPV6 = 1 << 3,
    IBV_RX_HASH_SRC_PORT_TCP = 1 << 4,
    IBV_RX_HASH_DST_PORT_TCP = 1 << 5,
    IBV_RX_HASH_SRC_PORT_UDP = 1 << 6,
    IBV_RX_HASH_DST_PORT_UDP = 1 << 7,
    IBV_RX_HASH_IPSEC_SPI = 1 << 8,
    IBV_RX_HASH_INNER = 1UL << 31
};

/** Receive-side scaling. */
struct ibv_rss_caps {
    uint32_t supported_qpts; /* a bit per enum ibv_qp_type */
    uint32_t max_rwq_indirection_tables;
    uint32_t max_rwq_indirection_table_size; /* entries */
    uint64_t rx_hash_fields_mask;            /* enum ibv_rx_hash_fields */
    uint8_t rx_hash_function;                /* enum ibv_rx_hash_function_flags */
};

/** Rate limiting of a QP; both rates 0: none. */
struct ibv_packet_pacing_caps {
    uint32_t qp_rate_limit_min; /* kbit/s */
    uint32_t qp_rate_limit_max; /* kbit/s */
    uint32_t supported_qpts;    /* a bit per enum ibv_qp_type */
};

enum ibv_raw_packet_caps {
    IBV_RAW_PACKET_CAP_CVLAN_STRIPPING = 1 << 0,
    IBV_RAW_PACKET_CAP_SCATTER_FCS = 1 << 1,
    IBV_RAW_PACKET_CAP_IP_CSUM = 1 << 2,
    IBV_RAW_PACKET_CAP_DELAY_DROP = 1 << 3
};

enum ibv_tm_cap_flags {
    IBV_TM_CAP_RC = 1 << 0 /* tag matching on RC */
};

/** Tag matching. */
struct ibv_tm_caps {
    uint32_t max_rndv_hdr_size; /* bytes of a rendezvous request's header */
    uint32_t max_num_tags;      /* buffers in the matching list of an SRQ */
    uint32_t flags;             /* enum ibv_tm_cap_flags */
    uint32_t max_ops;           /* list operations outstanding */
    uint32_t max_sge;           /* of a tagged buffer */
};

struct ibv_cq_moderation_caps {
    uint16_t max_cq_count;  /* completions per event */
    uint16_t max_cq_period; /* microseconds */
};

/** Sizes of operand for PCI atomics. */
enum ibv_pci_atomic_op_size {
    IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP = 1 << 0,
    IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP = 1 << 1,
    IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP = 1 << 2
};

/** PCI atomics that the device can send upstream; each member is made of enum ibv_pci_atomic_op_size. */
struct ibv_pci_atomic_caps {
    uint16_t fetch_add;
    uint16_t swap;
    uint16_t compare_swap;
};

/** All attributes of a device. What a device or an older provider does not know reads as 0. */
struct ibv_device_attr_ex {
    struct ibv_device_attr orig_attr;
    uint32_t comp_mask;
    struct ibv_odp_caps odp_caps;
    uint64_t completion_timestamp_mask; /* the bits of a completion timestamp that count; 0: none */
    uint64_t hca_core_clock;            /* kHz */
    uint64_t device_cap_flags_ex;       /* IBV_DEVICE_*, all of device_cap_flags too */
    struct ibv_tso_caps tso_caps;
    struct ibv_rss_caps rss_caps;
    uint32_t max_wq_type_rq; /* work queues of type IBV_WQT_RQ */
    struct ibv_packet_pacing_caps packet_pacing_caps;
    uint32_t raw_packet_caps; /* enum ibv_raw_packet_caps */
    struct ibv_tm_caps tm_caps;
    struct ibv_cq_moderation_caps cq_mod_caps;
    uint64_t max_dm_size; /* bytes of device memory; 0: none */
    struct ibv_pci_atomic_caps pci_atomic_caps;
    uint32_t xrc_odp_caps;     /* enum ibv_odp_transport_cap_bits, for XRC */
    uint32_t phys_port_cnt_ex; /* the number of ports where phys_port_cnt is too small for it */
};

/* Never used; keeps its place in struct ibv_device. */
struct _ibv_device_ops {
    struct ibv_context *(*_dummy1)(struct ibv_device *device, int cmd_fd);
    void (*_dummy2)(struct ibv_context *context);
};

enum { IBV_SYSFS_NAME_MAX = 64, IBV_SYSFS_PATH_MAX = 256 };

/** A device of the list. The library owns it; see ibv_free_device_list for how long it lives. */
struct ibv_device {
    struct _ibv_device_ops _ops;
    enum ibv_node_type node_type;
    enum ibv_transport_type transport_type;
    char name[IBV_SYSFS_NAME_MAX];       /* the kernel's name of the device, such as rxe0 */
    char dev_name[IBV_SYSFS_NAME_MAX];   /* of its character device, such as uverbs0 */
    char dev_path[IBV_SYSFS_PATH_MAX];   /* of the character device's folder in sysfs */
    char ibdev_path[IBV_SYSFS_PATH_MAX]; /* of the device's folder in sysfs */
};

/**
 * The devices of this host that a provider supports, as an array that ends with NULL. `num_devices`, unless
 * it is NULL, gets their number. The caller releases the array with ibv_free_device_list. A device that
 * cannot be used does not keep the others from being listed.
 *
 * Returns an empty array when there is no device; NULL and errno on failure (ENOSYS: no RDMA in this kernel,
 * ENOMEM, EPERM).
 */
struct ibv_device **ibv_get_device_list(int *num_devices);

/**
 * Releases an array of ibv_get_device_list. Devices that are not open by then become invalid; those that are
 * open stay as long as their contexts.
 */
void ibv_free_device_list(struct ibv_device **list);

/** The kernel's name of the device. It lives as long as `device`. */
const char *ibv_get_device_name(struct ibv_device *device);

/** The kernel's number of the device, which never comes back in use; -1 when the kernel does not tell. */
int ibv_get_device_index(struct ibv_device *device);

/** The device's node GUID in network byte order (IBTA 4.1.1), or 0. */
__be64 ibv_get_device_guid(struct ibv_device *device);

/** What to call a node of this type; never NULL. */
const char *ibv_node_type_str(enum ibv_node_type node_type);

/**
 * Reads the device's attributes (IBTA 11.2.1.2). A limit is no promise: others use the device too.
 *
 * Returns 0, or the errno value.
 */
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr);

/**
 * Reads all attributes of the device. `input` is NULL or zero. A device without the extended query gives the
 * attributes of ibv_query_device and zeros.
 *
 * Returns 0, or the errno value: EINVAL for an input that is not zero.
 */
static __inline__ int ibv_query_device_ex(struct ibv_context *context,
                                          const struct ibv_query_device_ex_input *input,
                                          struct ibv_device_attr_ex *attr)
{
    struct verbs_context *vctx;

    if (input && input->comp_mask)
        return EINVAL;

    vctx = verbs_get_ctx_op(context, query_device_ex);
    if (vctx) {
        int ret = vctx->query_device_ex(context, input, attr, sizeof(*attr));

        if (ret != EOPNOTSUPP && ret != ENOSYS)
            return ret;
    }

    memset(attr, 0, sizeof(*attr));
    return ibv_query_device(context, &attr->orig_attr);
}

/*
 * Static linking: with RDMA_STATIC_PROVIDERS defined as a list of provider names (such as rxe,siw, or all, or
 * none) the program refers to those providers, so the linker takes them in. A program that links dynamically
 * must not define it.
 */
#ifdef RDMA_STATIC_PROVIDERS
struct verbs_device_ops;

extern const struct verbs_device_ops verbs_provider_all;
extern const struct verbs_device_ops verbs_provider_bnxt_re;
extern const struct verbs_device_ops verbs_provider_cxgb4;
extern const struct verbs_device_ops verbs_provider_efa;
extern const struct verbs_device_ops verbs_provider_erdma;
extern const struct verbs_device_ops verbs_provider_hfi1verbs;
extern const struct verbs_device_ops verbs_provider_hns;
extern const struct verbs_device_ops verbs_provider_ionic;
extern const struct verbs_device_ops verbs_provider_ipathverbs;
extern const struct verbs_device_ops verbs_provider_irdma;
extern const struct verbs_device_ops verbs_provider_mana;
extern const struct verbs_device_ops verbs_provider_mlx4;
extern const struct verbs_device_ops verbs_provider_mlx5;
extern const struct verbs_device_ops verbs_provider_mthca;
extern const struct verbs_device_ops verbs_provider_none;
extern const struct verbs_device_ops verbs_provider_ocrdma;
extern const struct verbs_device_ops verbs_provider_qedr;
extern const struct verbs_device_ops verbs_provider_rxe;
extern const struct verbs_device_ops verbs_provider_siw;
extern const struct verbs_device_ops verbs_provider_urxe;
extern const struct verbs_device_ops verbs_provider_vmw_pvrdma;

/** Makes the providers that follow `unused` known to the library; the last argument is NULL. */
void ibv_static_providers(void *unused, ...);

/* The addresses of the first 20 names; the caller pads its list with none. */
#define __VERBS_PROVIDERS_OF(n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, \
                             n18, n19, n20, ...)                                                         \
    &verbs_provider_##n1, &verbs_provider_##n2, &verbs_provider_##n3, &verbs_provider_##n4,              \
        &verbs_provider_##n5, &verbs_provider_##n6, &verbs_provider_##n7, &verbs_provider_##n8,          \
        &verbs_provider_##n9, &verbs_provider_##n10, &verbs_provider_##n11, &verbs_provider_##n12,       \
        &verbs_provider_##n13, &verbs_provider_##n14, &verbs_provider_##n15, &verbs_provider_##n16,      \
        &verbs_provider_##n17, &verbs_provider_##n18, &verbs_provider_##n19, &verbs_provider_##n20
#define __VERBS_PROVIDERS(...)                                                                          \
    __VERBS_PROVIDERS_OF(__VA_ARGS__, none, none, none, none, none, none, none, none, none, none, none, \
                         none, none, none, none, none, none, none, none, none)

static __inline__ struct ibv_device **__ibv_get_device_list(int *num_devices)
{
    ibv_static_providers(NULL, __VERBS_PROVIDERS(RDMA_STATIC_PROVIDERS), NULL);
    return ibv_get_device_list(num_devices);
}
#define ibv_get_device_list(num_devices) __ibv_get_device_list(num_devices)
#endif

__VERBS_END_DECLS

#endif
