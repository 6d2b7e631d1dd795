/* SPDX-License-Identifier: BSD-2-Clause */
/* NETLINK_RDMA: its clients and groups, and the commands and attributes of its device client, NLDEV. */
#ifndef _RDMA_NETLINK_H
#define _RDMA_NETLINK_H

#include <linux/types.h>

/* Clients. */
enum {
    RDMA_NL_IWCM = 2,  /* iWARP port mapper */
    RDMA_NL_RSVD = 3,  /* unused */
    RDMA_NL_LS = 4,    /* path resolution in user space */
    RDMA_NL_NLDEV = 5, /* devices, links, resources and statistics */
    RDMA_NL_NUM_CLIENTS = 6,
};

/* Multicast groups. */
enum {
    RDMA_NL_GROUP_IWPM = 2,   /* iWARP port mapper */
    RDMA_NL_GROUP_LS = 3,     /* path resolution in user space */
    RDMA_NL_GROUP_NOTIFY = 4, /* devices that come, go and are renamed */
    RDMA_NL_NUM_GROUPS = 5,
};

/* A message type holds the client in bits 10 to 15 and its command in bits 0 to 9. */
#define RDMA_NL_GET_CLIENT(type) (((type) & (((1 << 6) - 1) << 10)) >> 10)
#define RDMA_NL_GET_OP(type) ((type) & ((1 << 10) - 1))
#define RDMA_NL_GET_TYPE(client, op) (((client) << 10) + (op))

/* Kinds of device. */
enum {
    RDMA_NODE_IB_CA = 1,
    RDMA_NODE_IB_SWITCH = 2,
    RDMA_NODE_IB_ROUTER = 3,
    RDMA_NODE_RNIC = 4,
    RDMA_NODE_USNIC = 5,
    RDMA_NODE_USNIC_UDP = 6,
    RDMA_NODE_UNSPECIFIED = 7,
};

enum rdma_nldev_command {
    RDMA_NLDEV_CMD_UNSPEC = 0,
    RDMA_NLDEV_CMD_GET = 1,              /* devices; can dump */
    RDMA_NLDEV_CMD_SET = 2,              /* rename a device, or move it to a network namespace */
    RDMA_NLDEV_CMD_NEWLINK = 3,          /* add a software device (rxe, siw) to a network interface */
    RDMA_NLDEV_CMD_DELLINK = 4,          /* remove a software device */
    RDMA_NLDEV_CMD_PORT_GET = 5,         /* ports of a device; can dump */
    RDMA_NLDEV_CMD_SYS_GET = 6,          /* settings of the subsystem */
    RDMA_NLDEV_CMD_SYS_SET = 7,          /* change settings of the subsystem */
    RDMA_NLDEV_CMD_RES_GET = 9,          /* how many objects of each kind exist; can dump; 8 is unused */
    RDMA_NLDEV_CMD_RES_QP_GET = 10,      /* queue pairs; can dump */
    RDMA_NLDEV_CMD_RES_CM_ID_GET = 11,   /* connection manager ids; can dump */
    RDMA_NLDEV_CMD_RES_CQ_GET = 12,      /* completion queues; can dump */
    RDMA_NLDEV_CMD_RES_MR_GET = 13,      /* memory regions; can dump */
    RDMA_NLDEV_CMD_RES_PD_GET = 14,      /* protection domains; can dump */
    RDMA_NLDEV_CMD_GET_CHARDEV = 15,     /* character device of a client such as uverbs */
    RDMA_NLDEV_CMD_STAT_SET = 16,        /* bind or configure counters */
    RDMA_NLDEV_CMD_STAT_GET = 17,        /* counters; can dump */
    RDMA_NLDEV_CMD_STAT_DEL = 18,        /* unbind counters */
    RDMA_NLDEV_CMD_RES_QP_GET_RAW = 19,  /* queue pairs as the device keeps them */
    RDMA_NLDEV_CMD_RES_CQ_GET_RAW = 20,  /* completion queues as the device keeps them */
    RDMA_NLDEV_CMD_RES_MR_GET_RAW = 21,  /* memory regions as the device keeps them */
    RDMA_NLDEV_CMD_RES_CTX_GET = 22,     /* user contexts; can dump */
    RDMA_NLDEV_CMD_RES_SRQ_GET = 23,     /* shared receive queues; can dump */
    RDMA_NLDEV_CMD_STAT_GET_STATUS = 24, /* which optional counters are on; can dump */
    RDMA_NLDEV_CMD_RES_SRQ_GET_RAW = 25, /* shared receive queues as the device keeps them */
    RDMA_NLDEV_CMD_NEWDEV = 26,          /* add a sub-device */
    RDMA_NLDEV_CMD_DELDEV = 27,          /* remove a sub-device */
    RDMA_NLDEV_CMD_MONITOR = 28,         /* event sent to RDMA_NL_GROUP_NOTIFY */
    RDMA_NLDEV_CMD_FRMR_POOLS_GET = 29,  /* pools of fast registration regions; can dump */
    RDMA_NLDEV_CMD_FRMR_POOLS_SET = 30,  /* tune those pools */
    RDMA_NLDEV_NUM_OPS = 31,
};

/* How a tool should print a value that a driver supplies. */
enum rdma_nldev_print_type {
    RDMA_NLDEV_PRINT_TYPE_UNSPEC = 0,
    RDMA_NLDEV_PRINT_TYPE_HEX = 1,
};

/* Attributes; a nested table is named after its entries, which hold further attributes. */
enum rdma_nldev_attr {
    RDMA_NLDEV_ATTR_UNSPEC = 0,
    RDMA_NLDEV_ATTR_PAD = 0,              /* fills up to 64-bit alignment */
    RDMA_NLDEV_ATTR_DEV_INDEX = 1,        /* u32 */
    RDMA_NLDEV_ATTR_DEV_NAME = 2,         /* string */
    RDMA_NLDEV_ATTR_PORT_INDEX = 3,       /* u32, from 1 */
    RDMA_NLDEV_ATTR_CAP_FLAGS = 4,        /* u64; device capabilities, or of a port */
    RDMA_NLDEV_ATTR_FW_VERSION = 5,       /* string */
    RDMA_NLDEV_ATTR_NODE_GUID = 6,        /* u64 */
    RDMA_NLDEV_ATTR_SYS_IMAGE_GUID = 7,   /* u64 */
    RDMA_NLDEV_ATTR_SUBNET_PREFIX = 8,    /* u64 */
    RDMA_NLDEV_ATTR_LID = 9,              /* u32 */
    RDMA_NLDEV_ATTR_SM_LID = 10,          /* u32 */
    RDMA_NLDEV_ATTR_LMC = 11,             /* u8 */
    RDMA_NLDEV_ATTR_PORT_STATE = 12,      /* u8 */
    RDMA_NLDEV_ATTR_PORT_PHYS_STATE = 13, /* u8 */
    RDMA_NLDEV_ATTR_DEV_NODE_TYPE = 14,   /* u8, RDMA_NODE_* */
    RDMA_NLDEV_ATTR_RES_SUMMARY = 15,     /* nested table of RES_SUMMARY_ENTRY */
    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY = 16,
    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME = 17,
    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR = 18,
    RDMA_NLDEV_ATTR_RES_QP = 19,
    RDMA_NLDEV_ATTR_RES_QP_ENTRY = 20,
    RDMA_NLDEV_ATTR_RES_LQPN = 21,
    RDMA_NLDEV_ATTR_RES_RQPN = 22,
    RDMA_NLDEV_ATTR_RES_RQ_PSN = 23,
    RDMA_NLDEV_ATTR_RES_SQ_PSN = 24,
    RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE = 25,
    RDMA_NLDEV_ATTR_RES_TYPE = 26,
    RDMA_NLDEV_ATTR_RES_STATE = 27,
    RDMA_NLDEV_ATTR_RES_PID = 28,
    RDMA_NLDEV_ATTR_RES_KERN_NAME = 29,
    RDMA_NLDEV_ATTR_RES_CM_ID = 30,
    RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY = 31,
    RDMA_NLDEV_ATTR_RES_PS = 32,
    RDMA_NLDEV_ATTR_RES_SRC_ADDR = 33,
    RDMA_NLDEV_ATTR_RES_DST_ADDR = 34,
    RDMA_NLDEV_ATTR_RES_CQ = 35,
    RDMA_NLDEV_ATTR_RES_CQ_ENTRY = 36,
    RDMA_NLDEV_ATTR_RES_CQE = 37,
    RDMA_NLDEV_ATTR_RES_USECNT = 38,
    RDMA_NLDEV_ATTR_RES_POLL_CTX = 39,
    RDMA_NLDEV_ATTR_RES_MR = 40,
    RDMA_NLDEV_ATTR_RES_MR_ENTRY = 41,
    RDMA_NLDEV_ATTR_RES_RKEY = 42,
    RDMA_NLDEV_ATTR_RES_LKEY = 43,
    RDMA_NLDEV_ATTR_RES_IOVA = 44,
    RDMA_NLDEV_ATTR_RES_MRLEN = 45,
    RDMA_NLDEV_ATTR_RES_PD = 46,
    RDMA_NLDEV_ATTR_RES_PD_ENTRY = 47,
    RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY = 48,
    RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY = 49,
    RDMA_NLDEV_ATTR_NDEV_INDEX = 50, /* u32, network interface */
    RDMA_NLDEV_ATTR_NDEV_NAME = 51,  /* string, network interface */
    RDMA_NLDEV_ATTR_DRIVER = 52,
    RDMA_NLDEV_ATTR_DRIVER_ENTRY = 53,
    RDMA_NLDEV_ATTR_DRIVER_STRING = 54,
    RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE = 55,
    RDMA_NLDEV_ATTR_DRIVER_S32 = 56,
    RDMA_NLDEV_ATTR_DRIVER_U32 = 57,
    RDMA_NLDEV_ATTR_DRIVER_S64 = 58,
    RDMA_NLDEV_ATTR_DRIVER_U64 = 59,
    RDMA_NLDEV_ATTR_RES_PDN = 60,
    RDMA_NLDEV_ATTR_RES_CQN = 61,
    RDMA_NLDEV_ATTR_RES_MRN = 62,
    RDMA_NLDEV_ATTR_RES_CM_IDN = 63,
    RDMA_NLDEV_ATTR_RES_CTXN = 64,
    RDMA_NLDEV_ATTR_LINK_TYPE = 65,        /* string: rxe, siw */
    RDMA_NLDEV_SYS_ATTR_NETNS_MODE = 66,   /* u8: 1 when all network namespaces share the devices */
    RDMA_NLDEV_ATTR_DEV_PROTOCOL = 67,     /* string: ib, roce, iw, usnic */
    RDMA_NLDEV_NET_NS_FD = 68,             /* u32, file of the namespace to move to */
    RDMA_NLDEV_ATTR_CHARDEV_TYPE = 69,     /* string, client: uverbs, umad, issm */
    RDMA_NLDEV_ATTR_CHARDEV_NAME = 70,     /* string */
    RDMA_NLDEV_ATTR_CHARDEV_ABI = 71,      /* u64, version of its interface */
    RDMA_NLDEV_ATTR_CHARDEV = 72,          /* u64, huge encoding of the device number */
    RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID = 73, /* u32, enum rdma_driver_id */
    RDMA_NLDEV_ATTR_STAT_MODE = 74,
    RDMA_NLDEV_ATTR_STAT_RES = 75,
    RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK = 76,
    RDMA_NLDEV_ATTR_STAT_COUNTER = 77,
    RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY = 78,
    RDMA_NLDEV_ATTR_STAT_COUNTER_ID = 79,
    RDMA_NLDEV_ATTR_STAT_HWCOUNTERS = 80,
    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY = 81,
    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME = 82,
    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE = 83,
    RDMA_NLDEV_ATTR_DEV_DIM = 84,
    RDMA_NLDEV_ATTR_RES_RAW = 85,
    RDMA_NLDEV_ATTR_RES_CTX = 86,
    RDMA_NLDEV_ATTR_RES_CTX_ENTRY = 87,
    RDMA_NLDEV_ATTR_RES_SRQ = 88,
    RDMA_NLDEV_ATTR_RES_SRQ_ENTRY = 89,
    RDMA_NLDEV_ATTR_RES_SRQN = 90,
    RDMA_NLDEV_ATTR_MIN_RANGE = 91,
    RDMA_NLDEV_ATTR_MAX_RANGE = 92,
    RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK = 93, /* u8: 1 when fork copies pinned pages */
    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX = 94,
    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC = 95,
    RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE = 96,
    RDMA_NLDEV_ATTR_DRIVER_DETAILS = 97,
    RDMA_NLDEV_ATTR_RES_SUBTYPE = 98,
    RDMA_NLDEV_ATTR_DEV_TYPE = 99,          /* u8, enum rdma_nl_dev_type */
    RDMA_NLDEV_ATTR_PARENT_NAME = 100,      /* string, device that a sub-device belongs to */
    RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE = 101, /* u8, enum rdma_nl_name_assign_type */
    RDMA_NLDEV_ATTR_EVENT_TYPE = 102,       /* u8, enum rdma_nl_notify_event_type */
    RDMA_NLDEV_SYS_ATTR_MONITOR_MODE = 103, /* u8: 1 when events can be received */
    RDMA_NLDEV_ATTR_STAT_OPCOUNTER_ENABLED = 104,
    RDMA_NLDEV_ATTR_FRMR_POOLS = 105,
    RDMA_NLDEV_ATTR_FRMR_POOL_ENTRY = 106,
    RDMA_NLDEV_ATTR_FRMR_POOL_KEY = 107,
    RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ATS = 108,
    RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ACCESS_FLAGS = 109,
    RDMA_NLDEV_ATTR_FRMR_POOL_KEY_VENDOR_KEY = 110,
    RDMA_NLDEV_ATTR_FRMR_POOL_KEY_NUM_DMA_BLOCKS = 111,
    RDMA_NLDEV_ATTR_FRMR_POOL_QUEUE_HANDLES = 112,
    RDMA_NLDEV_ATTR_FRMR_POOL_MAX_IN_USE = 113,
    RDMA_NLDEV_ATTR_FRMR_POOL_IN_USE = 114,
    RDMA_NLDEV_ATTR_FRMR_POOLS_AGING_PERIOD = 115,
    RDMA_NLDEV_ATTR_FRMR_POOL_PINNED_HANDLES = 116,
    RDMA_NLDEV_ATTR_FRMR_POOL_KEY_KERNEL_VENDOR_KEY = 117,
    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX = 118,
    RDMA_NLDEV_ATTR_MAX = 119,
};

/* How counters are bound to queue pairs. */
enum rdma_nl_counter_mode {
    RDMA_COUNTER_MODE_NONE = 0,
    RDMA_COUNTER_MODE_AUTO = 1,
    RDMA_COUNTER_MODE_MANUAL = 2,
    RDMA_COUNTER_MODE_MAX = 3,
};

/* By what automatic binding groups queue pairs. */
enum rdma_nl_counter_mask {
    RDMA_COUNTER_MASK_QP_TYPE = 1 << 0,
    RDMA_COUNTER_MASK_PID = 1 << 1,
};

enum rdma_nl_dev_type {
    RDMA_DEVICE_TYPE_SMI = 1,
};

enum rdma_nl_name_assign_type {
    RDMA_NAME_ASSIGN_TYPE_UNKNOWN = 0,
    RDMA_NAME_ASSIGN_TYPE_USER = 1,
};

/* What happened, in a message of RDMA_NLDEV_CMD_MONITOR. */
enum rdma_nl_notify_event_type {
    RDMA_REGISTER_EVENT = 0,
    RDMA_UNREGISTER_EVENT = 1,
    RDMA_NETDEV_ATTACH_EVENT = 2,
    RDMA_NETDEV_DETACH_EVENT = 3,
    RDMA_RENAME_EVENT = 4,
    RDMA_NETDEV_RENAME_EVENT = 5,
};

#endif
