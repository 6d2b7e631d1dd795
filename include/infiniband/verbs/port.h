/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports: their state, limits and partition tables (IBTA 11.2.1.2, 14.2.5.6). */
#ifndef INFINIBAND_VERBS_PORT_H
#define INFINIBAND_VERBS_PORT_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** Path MTUs, in bytes of payload. */
enum ibv_mtu { IBV_MTU_256 = 1, IBV_MTU_512 = 2, IBV_MTU_1024 = 3, IBV_MTU_2048 = 4, IBV_MTU_4096 = 5 };

/** Logical state of a port (IBTA 7.2.7). */
enum ibv_port_state {
    IBV_PORT_NOP = 0,
    IBV_PORT_DOWN = 1,
    IBV_PORT_INIT = 2,
    IBV_PORT_ARMED = 3,
    IBV_PORT_ACTIVE = 4,
    IBV_PORT_ACTIVE_DEFER = 5
};

enum {
    IBV_LINK_LAYER_UNSPECIFIED, /* an old kernel: InfiniBand */
    IBV_LINK_LAYER_INFINIBAND,
    IBV_LINK_LAYER_ETHERNET
};

/** Bits of ibv_port_attr.port_cap_flags: the port's CapabilityMask (IBTA 14.2.5.6). */
enum ibv_port_cap_flags {
    IBV_PORT_SM = 1 << 1,
    IBV_PORT_NOTICE_SUP = 1 << 2,
    IBV_PORT_TRAP_SUP = 1 << 3,
    IBV_PORT_OPT_IPD_SUP = 1 << 4,
    IBV_PORT_AUTO_MIGR_SUP = 1 << 5,
    IBV_PORT_SL_MAP_SUP = 1 << 6,
    IBV_PORT_MKEY_NVRAM = 1 << 7,
    IBV_PORT_PKEY_NVRAM = 1 << 8,
    IBV_PORT_LED_INFO_SUP = 1 << 9,
    IBV_PORT_SYS_IMAGE_GUID_SUP = 1 << 11,
    IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP = 1 << 12,
    IBV_PORT_EXTENDED_SPEEDS_SUP = 1 << 14,
    IBV_PORT_CAP_MASK2_SUP = 1 << 15,
    IBV_PORT_CM_SUP = 1 << 16,
    IBV_PORT_SNMP_TUNNEL_SUP = 1 << 17,
    IBV_PORT_REINIT_SUP = 1 << 18,
    IBV_PORT_DEVICE_MGMT_SUP = 1 << 19,
    IBV_PORT_VENDOR_CLASS_SUP = 1 << 20,
    IBV_PORT_DR_NOTICE_SUP = 1 << 21,
    IBV_PORT_CAP_MASK_NOTICE_SUP = 1 << 22,
    IBV_PORT_BOOT_MGMT_SUP = 1 << 23,
    IBV_PORT_LINK_LATENCY_SUP = 1 << 24,
    IBV_PORT_CLIENT_REG_SUP = 1 << 25,
    IBV_PORT_IP_BASED_GIDS = 1 << 26 /* the kernel's: GIDs follow the interface's IP addresses */
};

/** Bits of ibv_port_attr.port_cap_flags2: CapabilityMask2, valid with IBV_PORT_CAP_MASK2_SUP (IBTA 14.2.5.6).
 */
enum ibv_port_cap_flags2 {
    IBV_PORT_SET_NODE_DESC_SUP = 1 << 0,
    IBV_PORT_INFO_EXT_SUP = 1 << 1,
    IBV_PORT_VIRT_SUP = 1 << 2,
    IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP = 1 << 3,
    IBV_PORT_LINK_WIDTH_2X_SUP = 1 << 4,
    IBV_PORT_LINK_SPEED_HDR_SUP = 1 << 5,
    IBV_PORT_LINK_SPEED_NDR_SUP = 1 << 10
};

/** Attributes of a port. */
struct ibv_port_attr {
    enum ibv_port_state state;
    enum ibv_mtu max_mtu;
    enum ibv_mtu active_mtu;
    int gid_tbl_len;
    uint32_t port_cap_flags; /* enum ibv_port_cap_flags */
    uint32_t max_msg_sz;     /* bytes */
    uint32_t bad_pkey_cntr;
    uint32_t qkey_viol_cntr;
    uint16_t pkey_tbl_len;
    uint16_t lid; /* host byte order; 0 on Ethernet */
    uint16_t sm_lid;
    uint8_t lmc;
    uint8_t max_vl_num; /* encoded: 1 to 5 are 1, 2, 4, 8 and 15 virtual lanes */
    uint8_t sm_sl;
    uint8_t subnet_timeout; /* 4.096 us * 2^value */
    uint8_t init_type_reply;
    uint8_t active_width; /* a bit: 1, 2, 4, 8 and 16 are 1, 4, 8, 12 and 2 lanes */
    uint8_t active_speed; /* a bit per lane speed, SDR (1) to NDR (128) */
    uint8_t phys_state;   /* 2 polling, 3 disabled, 5 link up (IBTA 14.2.5.6) */
    uint8_t link_layer;   /* IBV_LINK_LAYER_* */
    uint8_t flags;        /* IBV_QPF_GRH_REQUIRED */
    uint16_t port_cap_flags2;
    uint32_t active_speed_ex; /* as active_speed, and faster ones; 0: active_speed has it */
};

/* The exported function fills the 48-byte struct of its first release, whatever the caller has. ABI-frozen.
 */
int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *port_attr);

static __inline__ int ___ibv_query_port(struct ibv_context *context, uint8_t port_num,
                                        struct ibv_port_attr *port_attr)
{
    struct verbs_context *vctx = verbs_get_ctx_op(context, query_port);

    if (vctx)
        return vctx->query_port(context, port_num, port_attr, sizeof(*port_attr));

    memset(port_attr, 0, sizeof(*port_attr));
    return ibv_query_port(context, port_num, __verbs_pointer_cast(struct _compat_ibv_port_attr *, port_attr));
}

/**
 * int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr)
 *
 * Reads the attributes of port `port_num`, from 1 on. Members that the device or an older library does not
 * know read as 0.
 *
 * Returns 0, or the errno value: EINVAL for a port that does not exist.
 */
#define ibv_query_port(context, port_num, port_attr) ___ibv_query_port(context, port_num, port_attr)

/**
 * Reads the port's speed as it is now, in units of 100 Mbit/s, over all lanes. `port_speed` is written on
 * success only.
 *
 * Returns 0, or the errno value: EOPNOTSUPP when the kernel cannot tell.
 */
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);

/**
 * Reads entry `index` of the port's partition table into `pkey`, in network byte order (IBTA 10.9.2).
 *
 * Returns 0, or -1 and errno.
 */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);

/**
 * The index at which the port's partition table has `pkey` (network byte order), or -1 and errno when it has
 * not.
 */
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey);

/** What to call this state; never NULL. */
const char *ibv_port_state_str(enum ibv_port_state port_state);

__VERBS_END_DECLS

#endif
