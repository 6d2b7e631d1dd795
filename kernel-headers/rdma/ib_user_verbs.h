/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands written to a uverbs character device, with their request and response structures. */
#ifndef IB_USER_VERBS_H
#define IB_USER_VERBS_H

#include <linux/types.h>

/*
 * A command is one write(): a header, the request, and the driver's part of the request (driver_data). The
 * kernel stores the response at the address in `response`. Sizes in the header count 32-bit words. Every
 * structure has the same layout for 32- and 64-bit callers, so 64-bit members are aligned to 8 bytes
 * everywhere and pointers travel as integers. A trailing array is [0] instead of [] where another structure
 * embeds the one that it ends.
 */
#define IB_USER_VERBS_ABI_VERSION 6

/* Numbers from here on exist as extended commands only. */
#define IB_USER_VERBS_CMD_THRESHOLD 50

enum ib_uverbs_write_cmds {
    IB_USER_VERBS_CMD_GET_CONTEXT = 0,  /* open a user context; yields the file of asynchronous events */
    IB_USER_VERBS_CMD_QUERY_DEVICE = 1, /* attributes of the device */
    IB_USER_VERBS_CMD_QUERY_PORT = 2,   /* attributes of a port */
    IB_USER_VERBS_CMD_ALLOC_PD = 3,     /* make a protection domain */
    IB_USER_VERBS_CMD_DEALLOC_PD = 4,   /* destroy a protection domain */
    IB_USER_VERBS_CMD_CREATE_AH = 5,    /* make an address handle */
    IB_USER_VERBS_CMD_MODIFY_AH = 6,    /* number taken, no such command */
    IB_USER_VERBS_CMD_QUERY_AH = 7,     /* number taken, no such command */
    IB_USER_VERBS_CMD_DESTROY_AH = 8,   /* destroy an address handle */
    IB_USER_VERBS_CMD_REG_MR = 9,       /* register a memory region */
    IB_USER_VERBS_CMD_REG_SMR = 10,     /* number taken, no such command */
    IB_USER_VERBS_CMD_REREG_MR = 11,    /* change translation, domain or access of a memory region */
    IB_USER_VERBS_CMD_QUERY_MR = 12,    /* number taken, no such command */
    IB_USER_VERBS_CMD_DEREG_MR = 13,    /* deregister a memory region */
    IB_USER_VERBS_CMD_ALLOC_MW = 14,    /* make a memory window */
    IB_USER_VERBS_CMD_BIND_MW = 15,     /* number taken, no such command */
    IB_USER_VERBS_CMD_DEALLOC_MW = 16,  /* destroy a memory window */
    IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL = 17, /* open a completion event channel */
    IB_USER_VERBS_CMD_CREATE_CQ = 18,           /* make a completion queue */
    IB_USER_VERBS_CMD_RESIZE_CQ = 19,           /* change the capacity of a completion queue */
    IB_USER_VERBS_CMD_DESTROY_CQ = 20,          /* destroy a completion queue */
    IB_USER_VERBS_CMD_POLL_CQ = 21,             /* take completions, for devices polled in the kernel */
    IB_USER_VERBS_CMD_PEEK_CQ = 22,             /* number taken, no such command */
    IB_USER_VERBS_CMD_REQ_NOTIFY_CQ = 23,       /* ask for an event at the next completion */
    IB_USER_VERBS_CMD_CREATE_QP = 24,           /* make a queue pair */
    IB_USER_VERBS_CMD_QUERY_QP = 25,            /* attributes of a queue pair */
    IB_USER_VERBS_CMD_MODIFY_QP = 26,           /* change attributes and state of a queue pair */
    IB_USER_VERBS_CMD_DESTROY_QP = 27,          /* destroy a queue pair */
    IB_USER_VERBS_CMD_POST_SEND = 28,           /* post send work requests through the kernel */
    IB_USER_VERBS_CMD_POST_RECV = 29,           /* post receive work requests through the kernel */
    IB_USER_VERBS_CMD_ATTACH_MCAST = 30,        /* join a queue pair to a multicast group */
    IB_USER_VERBS_CMD_DETACH_MCAST = 31,        /* take a queue pair out of a multicast group */
    IB_USER_VERBS_CMD_CREATE_SRQ = 32,          /* make a shared receive queue */
    IB_USER_VERBS_CMD_MODIFY_SRQ = 33,          /* change capacity or limit of a shared receive queue */
    IB_USER_VERBS_CMD_QUERY_SRQ = 34,           /* attributes of a shared receive queue */
    IB_USER_VERBS_CMD_DESTROY_SRQ = 35,         /* destroy a shared receive queue */
    IB_USER_VERBS_CMD_POST_SRQ_RECV = 36,       /* post receives to a shared queue through the kernel */
    IB_USER_VERBS_CMD_OPEN_XRCD = 37,           /* open an XRC domain */
    IB_USER_VERBS_CMD_CLOSE_XRCD = 38,          /* close an XRC domain */
    IB_USER_VERBS_CMD_CREATE_XSRQ = 39,         /* make a shared receive queue of any type */
    IB_USER_VERBS_CMD_OPEN_QP = 40,             /* open the XRC target queue pair of another process */
};

/* Extended commands: they may grow at the end, and their headers carry separate sizes for core and driver. */
enum {
    IB_USER_VERBS_EX_CMD_QUERY_DEVICE = IB_USER_VERBS_CMD_QUERY_DEVICE,
    IB_USER_VERBS_EX_CMD_CREATE_CQ = IB_USER_VERBS_CMD_CREATE_CQ,
    IB_USER_VERBS_EX_CMD_CREATE_QP = IB_USER_VERBS_CMD_CREATE_QP,
    IB_USER_VERBS_EX_CMD_MODIFY_QP = IB_USER_VERBS_CMD_MODIFY_QP,
    IB_USER_VERBS_EX_CMD_CREATE_FLOW = IB_USER_VERBS_CMD_THRESHOLD, /* add a flow steering rule */
    IB_USER_VERBS_EX_CMD_DESTROY_FLOW = 51,                         /* remove a flow steering rule */
    IB_USER_VERBS_EX_CMD_CREATE_WQ = 52,                            /* make a receive work queue */
    IB_USER_VERBS_EX_CMD_MODIFY_WQ = 53,           /* change state or flags of a work queue */
    IB_USER_VERBS_EX_CMD_DESTROY_WQ = 54,          /* destroy a work queue */
    IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL = 55,  /* make a table that spreads receives over work queues */
    IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL = 56, /* destroy such a table */
    IB_USER_VERBS_EX_CMD_MODIFY_CQ = 57,           /* set the moderation of completion events */
};

/* Parts of ib_uverbs_cmd_hdr.command. */
#define IB_USER_VERBS_CMD_COMMAND_MASK 0xff
#define IB_USER_VERBS_CMD_FLAG_EXTENDED 0x80000000u

struct ib_uverbs_cmd_hdr {
    __u32 command;
    __u16 in_words;
    __u16 out_words;
};

/* Follows ib_uverbs_cmd_hdr in extended commands, whose core sizes count 64-bit words. */
struct ib_uverbs_ex_cmd_hdr {
    __aligned_u64 response;
    __u16 provider_in_words;
    __u16 provider_out_words;
    __u32 cmd_hdr_reserved;
};

/* Read from the asynchronous event file. */
struct ib_uverbs_async_event_desc {
    __aligned_u64 element;
    __u32 event_type;
    __u32 reserved;
};

/* Read from a completion event channel. */
struct ib_uverbs_comp_event_desc {
    __aligned_u64 cq_handle;
};

/* GET_CONTEXT */
struct ib_uverbs_get_context {
    __aligned_u64 response;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_get_context_resp {
    __u32 async_fd;
    __u32 num_comp_vectors;
    __aligned_u64 driver_data[];
};

/* QUERY_DEVICE */
struct ib_uverbs_query_device {
    __aligned_u64 response;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_query_device_resp {
    __aligned_u64 fw_ver;
    __be64 node_guid;
    __be64 sys_image_guid;
    __aligned_u64 max_mr_size;
    __aligned_u64 page_size_cap;
    __u32 vendor_id;
    __u32 vendor_part_id;
    __u32 hw_ver;
    __u32 max_qp;
    __u32 max_qp_wr;
    __u32 device_cap_flags;
    __u32 max_sge;
    __u32 max_sge_rd;
    __u32 max_cq;
    __u32 max_cqe;
    __u32 max_mr;
    __u32 max_pd;
    __u32 max_qp_rd_atom;
    __u32 max_ee_rd_atom;
    __u32 max_res_rd_atom;
    __u32 max_qp_init_rd_atom;
    __u32 max_ee_init_rd_atom;
    __u32 atomic_cap;
    __u32 max_ee;
    __u32 max_rdd;
    __u32 max_mw;
    __u32 max_raw_ipv6_qp;
    __u32 max_raw_ethy_qp;
    __u32 max_mcast_grp;
    __u32 max_mcast_qp_attach;
    __u32 max_total_mcast_qp_attach;
    __u32 max_ah;
    __u32 max_fmr;
    __u32 max_map_per_fmr;
    __u32 max_srq;
    __u32 max_srq_wr;
    __u32 max_srq_sge;
    __u16 max_pkeys;
    __u8 local_ca_ack_delay;
    __u8 phys_port_cnt;
    __u8 reserved[4];
};

/* Extended QUERY_DEVICE: the basic attributes, then each later kind of capability. */
struct ib_uverbs_ex_query_device {
    __u32 comp_mask;
    __u32 reserved;
};

struct ib_uverbs_odp_caps {
    __aligned_u64 general_caps;
    struct {
        __u32 rc_odp_caps;
        __u32 uc_odp_caps;
        __u32 ud_odp_caps;
    } per_transport_caps;
    __u32 reserved;
};

struct ib_uverbs_rss_caps {
    __u32 supported_qpts;
    __u32 max_rwq_indirection_tables;
    __u32 max_rwq_indirection_table_size;
    __u32 reserved;
};

struct ib_uverbs_tm_caps {
    __u32 max_rndv_hdr_size;
    __u32 max_num_tags;
    __u32 flags;
    __u32 max_ops;
    __u32 max_sge;
    __u32 reserved;
};

struct ib_uverbs_cq_moderation_caps {
    __u16 max_cq_moderation_count;
    __u16 max_cq_moderation_period;
    __u32 reserved;
};

struct ib_uverbs_ex_query_device_resp {
    struct ib_uverbs_query_device_resp base;
    __u32 comp_mask;
    __u32 response_length;
    struct ib_uverbs_odp_caps odp_caps;
    __aligned_u64 timestamp_mask;
    __aligned_u64 hca_core_clock;
    __aligned_u64 device_cap_flags_ex;
    struct ib_uverbs_rss_caps rss_caps;
    __u32 max_wq_type_rq;
    __u32 raw_packet_caps;
    struct ib_uverbs_tm_caps tm_caps;
    struct ib_uverbs_cq_moderation_caps cq_moderation_caps;
    __aligned_u64 max_dm_size;
    __u32 xrc_odp_caps;
    __u32 reserved;
};

/* QUERY_PORT; the extended response is that of the method UVERBS_METHOD_QUERY_PORT. */
struct ib_uverbs_query_port {
    __aligned_u64 response;
    __u8 port_num;
    __u8 reserved[7];
    __aligned_u64 driver_data[];
};

struct ib_uverbs_query_port_resp {
    __u32 port_cap_flags;
    __u32 max_msg_sz;
    __u32 bad_pkey_cntr;
    __u32 qkey_viol_cntr;
    __u32 gid_tbl_len;
    __u16 pkey_tbl_len;
    __u16 lid;
    __u16 sm_lid;
    __u8 state;
    __u8 max_mtu;
    __u8 active_mtu;
    __u8 lmc;
    __u8 max_vl_num;
    __u8 sm_sl;
    __u8 subnet_timeout;
    __u8 init_type_reply;
    __u8 active_width;
    __u8 active_speed;
    __u8 phys_state;
    __u8 link_layer;
    __u8 flags;
    __u8 reserved;
};

/* ALLOC_PD, DEALLOC_PD */
struct ib_uverbs_alloc_pd {
    __aligned_u64 response;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_alloc_pd_resp {
    __u32 pd_handle;
    __u32 driver_data[];
};

struct ib_uverbs_dealloc_pd {
    __u32 pd_handle;
};

/* OPEN_XRCD, CLOSE_XRCD; oflags are those of open(). */
struct ib_uverbs_open_xrcd {
    __aligned_u64 response;
    __u32 fd;
    __u32 oflags;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_open_xrcd_resp {
    __u32 xrcd_handle;
    __u32 driver_data[];
};

struct ib_uverbs_close_xrcd {
    __u32 xrcd_handle;
};

/* REG_MR */
struct ib_uverbs_reg_mr {
    __aligned_u64 response;
    __aligned_u64 start;
    __aligned_u64 length;
    __aligned_u64 hca_va;
    __u32 pd_handle;
    __u32 access_flags;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_reg_mr_resp {
    __u32 mr_handle;
    __u32 lkey;
    __u32 rkey;
    __u32 driver_data[];
};

/* REREG_MR; flags say which of the other members count. */
struct ib_uverbs_rereg_mr {
    __aligned_u64 response;
    __u32 mr_handle;
    __u32 flags;
    __aligned_u64 start;
    __aligned_u64 length;
    __aligned_u64 hca_va;
    __u32 pd_handle;
    __u32 access_flags;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_rereg_mr_resp {
    __u32 lkey;
    __u32 rkey;
    __aligned_u64 driver_data[];
};

/* DEREG_MR */
struct ib_uverbs_dereg_mr {
    __u32 mr_handle;
};

/* ALLOC_MW, DEALLOC_MW */
struct ib_uverbs_alloc_mw {
    __aligned_u64 response;
    __u32 pd_handle;
    __u8 mw_type;
    __u8 reserved[3];
    __aligned_u64 driver_data[];
};

struct ib_uverbs_alloc_mw_resp {
    __u32 mw_handle;
    __u32 rkey;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_dealloc_mw {
    __u32 mw_handle;
};

/* CREATE_COMP_CHANNEL */
struct ib_uverbs_create_comp_channel {
    __aligned_u64 response;
};

struct ib_uverbs_create_comp_channel_resp {
    __u32 fd;
};

/* CREATE_CQ; comp_channel is a file descriptor, or -1 for none. */
struct ib_uverbs_create_cq {
    __aligned_u64 response;
    __aligned_u64 user_handle;
    __u32 cqe;
    __u32 comp_vector;
    __s32 comp_channel;
    __u32 reserved;
    __aligned_u64 driver_data[];
};

enum ib_uverbs_ex_create_cq_flags {
    IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION = 1 << 0,
    IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN = 1 << 1,
};

/* Extended CREATE_CQ */
struct ib_uverbs_ex_create_cq {
    __aligned_u64 user_handle;
    __u32 cqe;
    __u32 comp_vector;
    __s32 comp_channel;
    __u32 comp_mask;
    __u32 flags;
    __u32 reserved;
};

struct ib_uverbs_create_cq_resp {
    __u32 cq_handle;
    __u32 cqe;
    __aligned_u64 driver_data[0];
};

struct ib_uverbs_ex_create_cq_resp {
    struct ib_uverbs_create_cq_resp base;
    __u32 comp_mask;
    __u32 response_length;
};

/* RESIZE_CQ */
struct ib_uverbs_resize_cq {
    __aligned_u64 response;
    __u32 cq_handle;
    __u32 cqe;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_resize_cq_resp {
    __u32 cqe;
    __u32 reserved;
    __aligned_u64 driver_data[];
};

/* POLL_CQ: up to ne completions. */
struct ib_uverbs_poll_cq {
    __aligned_u64 response;
    __u32 cq_handle;
    __u32 ne;
};

/* Opcodes of completions of send work requests, as in enum ibv_wc_opcode. */
enum ib_uverbs_wc_opcode {
    IB_UVERBS_WC_SEND = 0,
    IB_UVERBS_WC_RDMA_WRITE = 1,
    IB_UVERBS_WC_RDMA_READ = 2,
    IB_UVERBS_WC_COMP_SWAP = 3,
    IB_UVERBS_WC_FETCH_ADD = 4,
    IB_UVERBS_WC_BIND_MW = 5,
    IB_UVERBS_WC_LOCAL_INV = 6,
    IB_UVERBS_WC_TSO = 7,
    IB_UVERBS_WC_FLUSH = 8,
    IB_UVERBS_WC_ATOMIC_WRITE = 9,
};

struct ib_uverbs_wc {
    __aligned_u64 wr_id;
    __u32 status;
    __u32 opcode;
    __u32 vendor_err;
    __u32 byte_len;
    union {
        __be32 imm_data;
        __u32 invalidate_rkey;
    } ex;
    __u32 qp_num;
    __u32 src_qp;
    __u32 wc_flags;
    __u16 pkey_index;
    __u16 slid;
    __u8 sl;
    __u8 dlid_path_bits;
    __u8 port_num;
    __u8 reserved;
};

struct ib_uverbs_poll_cq_resp {
    __u32 count;
    __u32 reserved;
    struct ib_uverbs_wc wc[];
};

/* REQ_NOTIFY_CQ */
struct ib_uverbs_req_notify_cq {
    __u32 cq_handle;
    __u32 solicited_only;
};

/* DESTROY_CQ: the response tells how many events the kernel delivered for it. */
struct ib_uverbs_destroy_cq {
    __aligned_u64 response;
    __u32 cq_handle;
    __u32 reserved;
};

struct ib_uverbs_destroy_cq_resp {
    __u32 comp_events_reported;
    __u32 async_events_reported;
};

/* Addresses of remote ends. */
struct ib_uverbs_global_route {
    __u8 dgid[16];
    __u32 flow_label;
    __u8 sgid_index;
    __u8 hop_limit;
    __u8 traffic_class;
    __u8 reserved;
};

struct ib_uverbs_ah_attr {
    struct ib_uverbs_global_route grh;
    __u16 dlid;
    __u8 sl;
    __u8 src_path_bits;
    __u8 static_rate;
    __u8 is_global;
    __u8 port_num;
    __u8 reserved;
};

/* Attributes of a queue pair as the kernel's connection manager hands them out. */
struct ib_uverbs_qp_attr {
    __u32 qp_attr_mask;
    __u32 qp_state;
    __u32 cur_qp_state;
    __u32 path_mtu;
    __u32 path_mig_state;
    __u32 qkey;
    __u32 rq_psn;
    __u32 sq_psn;
    __u32 dest_qp_num;
    __u32 qp_access_flags;
    struct ib_uverbs_ah_attr ah_attr;
    struct ib_uverbs_ah_attr alt_ah_attr;
    __u32 max_send_wr;
    __u32 max_recv_wr;
    __u32 max_send_sge;
    __u32 max_recv_sge;
    __u32 max_inline_data;
    __u16 pkey_index;
    __u16 alt_pkey_index;
    __u8 en_sqd_async_notify;
    __u8 sq_draining;
    __u8 max_rd_atomic;
    __u8 max_dest_rd_atomic;
    __u8 min_rnr_timer;
    __u8 port_num;
    __u8 timeout;
    __u8 retry_cnt;
    __u8 rnr_retry;
    __u8 alt_port_num;
    __u8 alt_timeout;
    __u8 reserved[5];
};

/* CREATE_QP */
struct ib_uverbs_create_qp {
    __aligned_u64 response;
    __aligned_u64 user_handle;
    __u32 pd_handle;
    __u32 send_cq_handle;
    __u32 recv_cq_handle;
    __u32 srq_handle;
    __u32 max_send_wr;
    __u32 max_recv_wr;
    __u32 max_send_sge;
    __u32 max_recv_sge;
    __u32 max_inline_data;
    __u8 sq_sig_all;
    __u8 qp_type;
    __u8 is_srq;
    __u8 reserved;
    __aligned_u64 driver_data[];
};

/* Members of ib_uverbs_ex_create_qp that comp_mask may announce. */
enum ib_uverbs_create_qp_mask {
    IB_UVERBS_CREATE_QP_MASK_IND_TABLE = 1 << 0,
};

enum {
    IB_UVERBS_CREATE_QP_SUP_COMP_MASK = 1,
};

/* Extended CREATE_QP */
struct ib_uverbs_ex_create_qp {
    __aligned_u64 user_handle;
    __u32 pd_handle;
    __u32 send_cq_handle;
    __u32 recv_cq_handle;
    __u32 srq_handle;
    __u32 max_send_wr;
    __u32 max_recv_wr;
    __u32 max_send_sge;
    __u32 max_recv_sge;
    __u32 max_inline_data;
    __u8 sq_sig_all;
    __u8 qp_type;
    __u8 is_srq;
    __u8 reserved;
    __u32 comp_mask;
    __u32 create_flags;
    __u32 rwq_ind_tbl_handle;
    __u32 source_qpn;
};

/* OPEN_QP; answered with ib_uverbs_create_qp_resp. */
struct ib_uverbs_open_qp {
    __aligned_u64 response;
    __aligned_u64 user_handle;
    __u32 pd_handle;
    __u32 qpn;
    __u8 qp_type;
    __u8 reserved[7];
    __aligned_u64 driver_data[];
};

struct ib_uverbs_create_qp_resp {
    __u32 qp_handle;
    __u32 qpn;
    __u32 max_send_wr;
    __u32 max_recv_wr;
    __u32 max_send_sge;
    __u32 max_recv_sge;
    __u32 max_inline_data;
    __u32 reserved;
    __u32 driver_data[0];
};

struct ib_uverbs_ex_create_qp_resp {
    struct ib_uverbs_create_qp_resp base;
    __u32 comp_mask;
    __u32 response_length;
};

/* QUERY_QP */
struct ib_uverbs_qp_dest {
    __u8 dgid[16];
    __u32 flow_label;
    __u16 dlid;
    __u16 reserved;
    __u8 sgid_index;
    __u8 hop_limit;
    __u8 traffic_class;
    __u8 sl;
    __u8 src_path_bits;
    __u8 static_rate;
    __u8 is_global;
    __u8 port_num;
};

struct ib_uverbs_query_qp {
    __aligned_u64 response;
    __u32 qp_handle;
    __u32 attr_mask;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_query_qp_resp {
    struct ib_uverbs_qp_dest dest;
    struct ib_uverbs_qp_dest alt_dest;
    __u32 max_send_wr;
    __u32 max_recv_wr;
    __u32 max_send_sge;
    __u32 max_recv_sge;
    __u32 max_inline_data;
    __u32 qkey;
    __u32 rq_psn;
    __u32 sq_psn;
    __u32 dest_qp_num;
    __u32 qp_access_flags;
    __u16 pkey_index;
    __u16 alt_pkey_index;
    __u8 qp_state;
    __u8 cur_qp_state;
    __u8 path_mtu;
    __u8 path_mig_state;
    __u8 sq_draining;
    __u8 max_rd_atomic;
    __u8 max_dest_rd_atomic;
    __u8 min_rnr_timer;
    __u8 port_num;
    __u8 timeout;
    __u8 retry_cnt;
    __u8 rnr_retry;
    __u8 alt_port_num;
    __u8 alt_timeout;
    __u8 sq_sig_all;
    __u8 reserved[5];
    __aligned_u64 driver_data[];
};

/* MODIFY_QP, and its extended form with a rate limit. */
struct ib_uverbs_modify_qp {
    struct ib_uverbs_qp_dest dest;
    struct ib_uverbs_qp_dest alt_dest;
    __u32 qp_handle;
    __u32 attr_mask;
    __u32 qkey;
    __u32 rq_psn;
    __u32 sq_psn;
    __u32 dest_qp_num;
    __u32 qp_access_flags;
    __u16 pkey_index;
    __u16 alt_pkey_index;
    __u8 qp_state;
    __u8 cur_qp_state;
    __u8 path_mtu;
    __u8 path_mig_state;
    __u8 en_sqd_async_notify;
    __u8 max_rd_atomic;
    __u8 max_dest_rd_atomic;
    __u8 min_rnr_timer;
    __u8 port_num;
    __u8 timeout;
    __u8 retry_cnt;
    __u8 rnr_retry;
    __u8 alt_port_num;
    __u8 alt_timeout;
    __u8 reserved[2];
    __aligned_u64 driver_data[0];
};

struct ib_uverbs_ex_modify_qp {
    struct ib_uverbs_modify_qp base;
    __u32 rate_limit;
    __u32 reserved;
};

struct ib_uverbs_ex_modify_qp_resp {
    __u32 comp_mask;
    __u32 response_length;
};

/* DESTROY_QP */
struct ib_uverbs_destroy_qp {
    __aligned_u64 response;
    __u32 qp_handle;
    __u32 reserved;
};

struct ib_uverbs_destroy_qp_resp {
    __u32 events_reported;
};

/* Opcodes of send work requests; enum ibv_wr_opcode gives 11 another meaning. */
enum ib_uverbs_wr_opcode {
    IB_UVERBS_WR_RDMA_WRITE = 0,
    IB_UVERBS_WR_RDMA_WRITE_WITH_IMM = 1,
    IB_UVERBS_WR_SEND = 2,
    IB_UVERBS_WR_SEND_WITH_IMM = 3,
    IB_UVERBS_WR_RDMA_READ = 4,
    IB_UVERBS_WR_ATOMIC_CMP_AND_SWP = 5,
    IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD = 6,
    IB_UVERBS_WR_LOCAL_INV = 7,
    IB_UVERBS_WR_BIND_MW = 8,
    IB_UVERBS_WR_SEND_WITH_INV = 9,
    IB_UVERBS_WR_TSO = 10,
    IB_UVERBS_WR_RDMA_READ_WITH_INV = 11,
    IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP = 12,
    IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD = 13,
    IB_UVERBS_WR_FLUSH = 14,
    IB_UVERBS_WR_ATOMIC_WRITE = 15,
};

/* POST_SEND: wr_count work requests of wqe_size bytes each, then sge_count scatter/gather elements. */
struct ib_uverbs_sge {
    __aligned_u64 addr;
    __u32 length;
    __u32 lkey;
};

struct ib_uverbs_send_wr {
    __aligned_u64 wr_id;
    __u32 num_sge;
    __u32 opcode; /* enum ib_uverbs_wr_opcode */
    __u32 send_flags;
    union {
        __be32 imm_data;
        __u32 invalidate_rkey;
    } ex;
    union {
        struct {
            __aligned_u64 remote_addr;
            __u32 rkey;
            __u32 reserved;
        } rdma;
        struct {
            __aligned_u64 remote_addr;
            __aligned_u64 compare_add;
            __aligned_u64 swap;
            __u32 rkey;
            __u32 reserved;
        } atomic;
        struct {
            __u32 ah;
            __u32 remote_qpn;
            __u32 remote_qkey;
            __u32 reserved;
        } ud;
    } wr;
};

struct ib_uverbs_post_send {
    __aligned_u64 response;
    __u32 qp_handle;
    __u32 wr_count;
    __u32 sge_count;
    __u32 wqe_size;
    struct ib_uverbs_send_wr send_wr[];
};

/* bad_wr counts from 1; 0 means that all were posted. */
struct ib_uverbs_post_send_resp {
    __u32 bad_wr;
};

/* POST_RECV */
struct ib_uverbs_recv_wr {
    __aligned_u64 wr_id;
    __u32 num_sge;
    __u32 reserved;
};

struct ib_uverbs_post_recv {
    __aligned_u64 response;
    __u32 qp_handle;
    __u32 wr_count;
    __u32 sge_count;
    __u32 wqe_size;
    struct ib_uverbs_recv_wr recv_wr[];
};

struct ib_uverbs_post_recv_resp {
    __u32 bad_wr;
};

/* POST_SRQ_RECV */
struct ib_uverbs_post_srq_recv {
    __aligned_u64 response;
    __u32 srq_handle;
    __u32 wr_count;
    __u32 sge_count;
    __u32 wqe_size;
    struct ib_uverbs_recv_wr recv[];
};

struct ib_uverbs_post_srq_recv_resp {
    __u32 bad_wr;
};

/* CREATE_AH, DESTROY_AH */
struct ib_uverbs_create_ah {
    __aligned_u64 response;
    __aligned_u64 user_handle;
    __u32 pd_handle;
    __u32 reserved;
    struct ib_uverbs_ah_attr attr;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_create_ah_resp {
    __u32 ah_handle;
    __u32 driver_data[];
};

struct ib_uverbs_destroy_ah {
    __u32 ah_handle;
};

/* ATTACH_MCAST, DETACH_MCAST */
struct ib_uverbs_attach_mcast {
    __u8 gid[16];
    __u32 qp_handle;
    __u16 mlid;
    __u16 reserved;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_detach_mcast {
    __u8 gid[16];
    __u32 qp_handle;
    __u16 mlid;
    __u16 reserved;
    __aligned_u64 driver_data[];
};

/* Each flow specification opens with its type and its size in bytes, then holds a value and a mask. */
struct ib_uverbs_flow_spec_hdr {
    __u32 type;
    __u16 size;
    __u16 reserved;
    __aligned_u64 flow_spec_data[0];
};

struct ib_uverbs_flow_eth_filter {
    __u8 dst_mac[6];
    __u8 src_mac[6];
    __be16 ether_type;
    __be16 vlan_tag;
};

struct ib_uverbs_flow_spec_eth {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_eth_filter val;
    struct ib_uverbs_flow_eth_filter mask;
};

struct ib_uverbs_flow_ipv4_filter {
    __be32 src_ip;
    __be32 dst_ip;
    __u8 proto;
    __u8 tos;
    __u8 ttl;
    __u8 flags;
};

struct ib_uverbs_flow_spec_ipv4 {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_ipv4_filter val;
    struct ib_uverbs_flow_ipv4_filter mask;
};

struct ib_uverbs_flow_tcp_udp_filter {
    __be16 dst_port;
    __be16 src_port;
};

struct ib_uverbs_flow_spec_tcp_udp {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_tcp_udp_filter val;
    struct ib_uverbs_flow_tcp_udp_filter mask;
};

struct ib_uverbs_flow_ipv6_filter {
    __u8 src_ip[16];
    __u8 dst_ip[16];
    __be32 flow_label;
    __u8 next_hdr;
    __u8 traffic_class;
    __u8 hop_limit;
    __u8 reserved;
};

struct ib_uverbs_flow_spec_ipv6 {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_ipv6_filter val;
    struct ib_uverbs_flow_ipv6_filter mask;
};

struct ib_uverbs_flow_spec_action_tag {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    __u32 tag_id;
    __u32 reserved1;
};

struct ib_uverbs_flow_spec_action_drop {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
};

struct ib_uverbs_flow_spec_action_handle {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    __u32 handle;
    __u32 reserved1;
};

struct ib_uverbs_flow_spec_action_count {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    __u32 handle;
    __u32 reserved1;
};

struct ib_uverbs_flow_tunnel_filter {
    __be32 tunnel_id;
};

struct ib_uverbs_flow_spec_tunnel {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_tunnel_filter val;
    struct ib_uverbs_flow_tunnel_filter mask;
};

struct ib_uverbs_flow_spec_esp_filter {
    __u32 spi;
    __u32 seq;
};

struct ib_uverbs_flow_spec_esp {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_spec_esp_filter val;
    struct ib_uverbs_flow_spec_esp_filter mask;
};

struct ib_uverbs_flow_gre_filter {
    __be16 c_ks_res0_ver;
    __be16 protocol;
    __be32 key;
};

struct ib_uverbs_flow_spec_gre {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_gre_filter val;
    struct ib_uverbs_flow_gre_filter mask;
};

struct ib_uverbs_flow_mpls_filter {
    __be32 label;
};

struct ib_uverbs_flow_spec_mpls {
    union {
        struct ib_uverbs_flow_spec_hdr hdr;
        struct {
            __u32 type;
            __u16 size;
            __u16 reserved;
        };
    };
    struct ib_uverbs_flow_mpls_filter val;
    struct ib_uverbs_flow_mpls_filter mask;
};

/* Extended CREATE_FLOW, DESTROY_FLOW; size in ib_uverbs_flow_attr is that of the specifications. */
struct ib_uverbs_flow_attr {
    __u32 type;
    __u16 size;
    __u16 priority;
    __u8 num_of_specs;
    __u8 reserved[2];
    __u8 port;
    __u32 flags;
    struct ib_uverbs_flow_spec_hdr flow_specs[0];
};

struct ib_uverbs_create_flow {
    __u32 comp_mask;
    __u32 qp_handle;
    struct ib_uverbs_flow_attr flow_attr;
};

struct ib_uverbs_create_flow_resp {
    __u32 comp_mask;
    __u32 flow_handle;
};

struct ib_uverbs_destroy_flow {
    __u32 comp_mask;
    __u32 flow_handle;
};

/* CREATE_SRQ */
struct ib_uverbs_create_srq {
    __aligned_u64 response;
    __aligned_u64 user_handle;
    __u32 pd_handle;
    __u32 max_wr;
    __u32 max_sge;
    __u32 srq_limit;
    __aligned_u64 driver_data[];
};

/* CREATE_XSRQ */
struct ib_uverbs_create_xsrq {
    __aligned_u64 response;
    __aligned_u64 user_handle;
    __u32 srq_type;
    __u32 pd_handle;
    __u32 max_wr;
    __u32 max_sge;
    __u32 srq_limit;
    __u32 max_num_tags;
    __u32 xrcd_handle;
    __u32 cq_handle;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_create_srq_resp {
    __u32 srq_handle;
    __u32 max_wr;
    __u32 max_sge;
    __u32 srqn;
    __u32 driver_data[];
};

/* MODIFY_SRQ */
struct ib_uverbs_modify_srq {
    __u32 srq_handle;
    __u32 attr_mask;
    __u32 max_wr;
    __u32 srq_limit;
    __aligned_u64 driver_data[];
};

/* QUERY_SRQ */
struct ib_uverbs_query_srq {
    __aligned_u64 response;
    __u32 srq_handle;
    __u32 reserved;
    __aligned_u64 driver_data[];
};

struct ib_uverbs_query_srq_resp {
    __u32 max_wr;
    __u32 max_sge;
    __u32 srq_limit;
    __u32 reserved;
};

/* DESTROY_SRQ */
struct ib_uverbs_destroy_srq {
    __aligned_u64 response;
    __u32 srq_handle;
    __u32 reserved;
};

struct ib_uverbs_destroy_srq_resp {
    __u32 events_reported;
};

/* Extended CREATE_WQ */
struct ib_uverbs_ex_create_wq {
    __u32 comp_mask;
    __u32 wq_type;
    __aligned_u64 user_handle;
    __u32 pd_handle;
    __u32 cq_handle;
    __u32 max_wr;
    __u32 max_sge;
    __u32 create_flags;
    __u32 reserved;
};

struct ib_uverbs_ex_create_wq_resp {
    __u32 comp_mask;
    __u32 response_length;
    __u32 wq_handle;
    __u32 max_wr;
    __u32 max_sge;
    __u32 wqn;
};

/* Extended DESTROY_WQ */
struct ib_uverbs_ex_destroy_wq {
    __u32 comp_mask;
    __u32 wq_handle;
};

struct ib_uverbs_ex_destroy_wq_resp {
    __u32 comp_mask;
    __u32 response_length;
    __u32 events_reported;
    __u32 reserved;
};

/* Extended MODIFY_WQ */
struct ib_uverbs_ex_modify_wq {
    __u32 attr_mask;
    __u32 wq_handle;
    __u32 wq_state;
    __u32 curr_wq_state;
    __u32 flags;
    __u32 flags_mask;
};

/* The kernel refuses larger values of log_ind_tbl_size. */
#define IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE 0x0d

/* Extended CREATE_RWQ_IND_TBL; handles are padded to a multiple of 8 bytes. */
struct ib_uverbs_ex_create_rwq_ind_table {
    __u32 comp_mask;
    __u32 log_ind_tbl_size;
    __u32 wq_handles[];
};

struct ib_uverbs_ex_create_rwq_ind_table_resp {
    __u32 comp_mask;
    __u32 response_length;
    __u32 ind_tbl_handle;
    __u32 ind_tbl_num;
};

/* Extended DESTROY_RWQ_IND_TBL */
struct ib_uverbs_ex_destroy_rwq_ind_table {
    __u32 comp_mask;
    __u32 ind_tbl_handle;
};

/* Extended MODIFY_CQ */
struct ib_uverbs_cq_moderation {
    __u16 cq_count;
    __u16 cq_period;
};

struct ib_uverbs_ex_modify_cq {
    __u32 cq_handle;
    __u32 attr_mask;
    struct ib_uverbs_cq_moderation attr;
    __u32 reserved;
};

/* Bytes of a device name, with the terminating zero. */
#define IB_DEVICE_NAME_MAX 64

/* Capabilities of a device: those above bit 31 appear in device_cap_flags_ex only. */
enum ib_uverbs_device_cap_flags {
    IB_UVERBS_DEVICE_RESIZE_MAX_WR = 1 << 0,
    IB_UVERBS_DEVICE_BAD_PKEY_CNTR = 1 << 1,
    IB_UVERBS_DEVICE_BAD_QKEY_CNTR = 1 << 2,
    IB_UVERBS_DEVICE_RAW_MULTI = 1 << 3,
    IB_UVERBS_DEVICE_AUTO_PATH_MIG = 1 << 4,
    IB_UVERBS_DEVICE_CHANGE_PHY_PORT = 1 << 5,
    IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE = 1 << 6,
    IB_UVERBS_DEVICE_CURR_QP_STATE_MOD = 1 << 7,
    IB_UVERBS_DEVICE_SHUTDOWN_PORT = 1 << 8,
    IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT = 1 << 10,
    IB_UVERBS_DEVICE_SYS_IMAGE_GUID = 1 << 11,
    IB_UVERBS_DEVICE_RC_RNR_NAK_GEN = 1 << 12,
    IB_UVERBS_DEVICE_SRQ_RESIZE = 1 << 13,
    IB_UVERBS_DEVICE_N_NOTIFY_CQ = 1 << 14,
    IB_UVERBS_DEVICE_MEM_WINDOW = 1 << 17,
    IB_UVERBS_DEVICE_UD_IP_CSUM = 1 << 18,
    IB_UVERBS_DEVICE_XRC = 1 << 20,
    IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS = 1 << 21,
    IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A = 1 << 23,
    IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B = 1 << 24,
    IB_UVERBS_DEVICE_RC_IP_CSUM = 1 << 25,
    IB_UVERBS_DEVICE_RAW_IP_CSUM = 1 << 26,
    IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING = 1 << 29,
    IB_UVERBS_DEVICE_RAW_SCATTER_FCS = 1ULL << 34,
    IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING = 1ULL << 36,
    IB_UVERBS_DEVICE_FLUSH_GLOBAL = 1ULL << 38,
    IB_UVERBS_DEVICE_FLUSH_PERSISTENT = 1ULL << 39,
    IB_UVERBS_DEVICE_ATOMIC_WRITE = 1ULL << 40,
    IB_UVERBS_DEVICE_CC_DMA_BOUNCE = 1ULL << 41,
};

enum ib_uverbs_raw_packet_caps {
    IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING = 1 << 0,
    IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS = 1 << 1,
    IB_UVERBS_RAW_PACKET_CAP_IP_CSUM = 1 << 2,
    IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP = 1 << 3,
};

/* RDMA FLUSH: how far data must get, and how much of it. */
enum ib_placement_type {
    IB_FLUSH_GLOBAL = 1 << 0,
    IB_FLUSH_PERSISTENT = 1 << 1,
};

enum ib_selectivity_level {
    IB_FLUSH_RANGE = 0,
    IB_FLUSH_MR = 1,
};

/* On-demand paging: what a device does at all, and with which operations per transport. */
enum ib_uverbs_odp_general_cap_bits {
    IB_UVERBS_ODP_SUPPORT = 1 << 0,
    IB_UVERBS_ODP_SUPPORT_IMPLICIT = 1 << 1,
};

enum ib_uverbs_odp_transport_cap_bits {
    IB_UVERBS_ODP_SUPPORT_SEND = 1 << 0,
    IB_UVERBS_ODP_SUPPORT_RECV = 1 << 1,
    IB_UVERBS_ODP_SUPPORT_WRITE = 1 << 2,
    IB_UVERBS_ODP_SUPPORT_READ = 1 << 3,
    IB_UVERBS_ODP_SUPPORT_ATOMIC = 1 << 4,
    IB_UVERBS_ODP_SUPPORT_SRQ_RECV = 1 << 5,
    IB_UVERBS_ODP_SUPPORT_FLUSH = 1 << 6,
    IB_UVERBS_ODP_SUPPORT_ATOMIC_WRITE = 1 << 7,
};

#endif
