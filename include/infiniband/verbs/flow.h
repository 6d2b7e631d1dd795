/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow steering: which received packets a QP gets, and what is done with them first. */
#ifndef INFINIBAND_VERBS_FLOW_H
#define INFINIBAND_VERBS_FLOW_H

#include <infiniband/verbs/counters.h>
#include <infiniband/verbs/qp.h>

__VERBS_BEGIN_DECLS

enum ibv_flow_flags {
    /* Bit 0 was used once. */
    IBV_FLOW_ATTR_FLAGS_DONT_TRAP = 1 << 1, /* others get the packet too */
    IBV_FLOW_ATTR_FLAGS_EGRESS = 1 << 2     /* sent packets */
};

enum ibv_flow_attr_type {
    IBV_FLOW_ATTR_NORMAL = 0x0,      /* what its specifications match */
    IBV_FLOW_ATTR_ALL_DEFAULT = 0x1, /* all Ethernet packets that no other flow takes */
    IBV_FLOW_ATTR_MC_DEFAULT = 0x2,  /* all Ethernet multicast that no other flow takes */
    IBV_FLOW_ATTR_SNIFFER = 0x3      /* a copy of all packets of the port */
};

/** What a specification is. INNER is added for the headers inside a tunnel. */
enum ibv_flow_spec_type {
    IBV_FLOW_SPEC_ETH = 0x20,
    IBV_FLOW_SPEC_IPV4 = 0x30,
    IBV_FLOW_SPEC_IPV6 = 0x31,
    IBV_FLOW_SPEC_IPV4_EXT = 0x32,
    IBV_FLOW_SPEC_ESP = 0x34,
    IBV_FLOW_SPEC_TCP = 0x40,
    IBV_FLOW_SPEC_UDP = 0x41,
    IBV_FLOW_SPEC_VXLAN_TUNNEL = 0x50,
    IBV_FLOW_SPEC_GRE = 0x51,
    IBV_FLOW_SPEC_MPLS = 0x60,
    IBV_FLOW_SPEC_INNER = 0x100,
    IBV_FLOW_SPEC_ACTION_TAG = 0x1000,
    IBV_FLOW_SPEC_ACTION_DROP = 0x1001,
    IBV_FLOW_SPEC_ACTION_HANDLE = 0x1002,
    IBV_FLOW_SPEC_ACTION_COUNT = 0x1003
};

/*
 * Filters: headers' fields in network byte order. A specification has two of them, and a packet matches where
 * it equals `val` in the bits of `mask`. `size` is that of the whole specification in bytes.
 */

struct ibv_flow_eth_filter {
    uint8_t dst_mac[6];
    uint8_t src_mac[6];
    uint16_t ether_type;
    uint16_t vlan_tag; /* 802.1Q: priority 3 bits, DEI 1, VLAN 12 */
};

struct ibv_flow_spec_eth {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_eth_filter val;
    struct ibv_flow_eth_filter mask;
};

struct ibv_flow_ipv4_filter {
    uint32_t src_ip;
    uint32_t dst_ip;
};

struct ibv_flow_spec_ipv4 {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_ipv4_filter val;
    struct ibv_flow_ipv4_filter mask;
};

struct ibv_flow_ipv4_ext_filter {
    uint32_t src_ip;
    uint32_t dst_ip;
    uint8_t proto;
    uint8_t tos;
    uint8_t ttl;
    uint8_t flags;
};

struct ibv_flow_spec_ipv4_ext {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_ipv4_ext_filter val;
    struct ibv_flow_ipv4_ext_filter mask;
};

struct ibv_flow_ipv6_filter {
    uint8_t src_ip[16];
    uint8_t dst_ip[16];
    uint32_t flow_label;
    uint8_t next_hdr;
    uint8_t traffic_class;
    uint8_t hop_limit;
};

struct ibv_flow_spec_ipv6 {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_ipv6_filter val;
    struct ibv_flow_ipv6_filter mask;
};

struct ibv_flow_esp_filter {
    uint32_t spi;
    uint32_t seq;
};

struct ibv_flow_spec_esp {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_esp_filter val;
    struct ibv_flow_esp_filter mask;
};

struct ibv_flow_tcp_udp_filter {
    uint16_t dst_port;
    uint16_t src_port;
};

struct ibv_flow_spec_tcp_udp {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_tcp_udp_filter val;
    struct ibv_flow_tcp_udp_filter mask;
};

struct ibv_flow_gre_filter {
    uint16_t c_ks_res0_ver; /* the first 16 bits of the header: checksum, key and sequence bits, version (RFC
                               2890) */
    uint16_t protocol;
    uint32_t key;
};

struct ibv_flow_spec_gre {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_gre_filter val;
    struct ibv_flow_gre_filter mask;
};

struct ibv_flow_mpls_filter {
    uint32_t label; /* the whole entry: label 20 bits, traffic class 3, bottom of stack 1, TTL 8 (RFC 3032) */
};

struct ibv_flow_spec_mpls {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_mpls_filter val;
    struct ibv_flow_mpls_filter mask;
};

struct ibv_flow_tunnel_filter {
    uint32_t tunnel_id; /* VXLAN network identifier */
};

struct ibv_flow_spec_tunnel {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_flow_tunnel_filter val;
    struct ibv_flow_tunnel_filter mask;
};

/** Gives the packets a number, which ibv_wc_read_flow_tag returns. */
struct ibv_flow_spec_action_tag {
    enum ibv_flow_spec_type type;
    uint16_t size;
    uint32_t tag_id;
};

struct ibv_flow_spec_action_drop {
    enum ibv_flow_spec_type type;
    uint16_t size;
};

struct ibv_flow_spec_action_handle {
    enum ibv_flow_spec_type type;
    uint16_t size;
    const struct ibv_flow_action *action;
};

struct ibv_flow_spec_counter_action {
    enum ibv_flow_spec_type type;
    uint16_t size;
    struct ibv_counters *counters;
};

/** Any specification; hdr tells which. */
__extension__ struct ibv_flow_spec {
    __extension__ union {
        struct {
            enum ibv_flow_spec_type type;
            uint16_t size;
        } hdr;
        struct ibv_flow_spec_eth eth;
        struct ibv_flow_spec_ipv4 ipv4;
        struct ibv_flow_spec_tcp_udp tcp_udp;
        struct ibv_flow_spec_ipv4_ext ipv4_ext;
        struct ibv_flow_spec_ipv6 ipv6;
        struct ibv_flow_spec_esp esp;
        struct ibv_flow_spec_tunnel tunnel;
        struct ibv_flow_spec_gre gre;
        struct ibv_flow_spec_mpls mpls;
        struct ibv_flow_spec_action_tag flow_tag;
        struct ibv_flow_spec_action_drop drop;
        struct ibv_flow_spec_action_handle handle;
        struct ibv_flow_spec_counter_action flow_count;
    };
};

/** A flow: num_of_specs specifications follow it in memory, each directly behind the one before. */
struct ibv_flow_attr {
    uint32_t comp_mask; /* 0 */
    enum ibv_flow_attr_type type;
    uint16_t size;     /* bytes, with all specifications */
    uint16_t priority; /* the lowest number wins */
    uint8_t num_of_specs;
    uint8_t port;
    uint32_t flags; /* enum ibv_flow_flags */
};

struct ibv_flow {
    uint32_t comp_mask;
    struct ibv_context *context;
    uint32_t handle;
};

/** What is done with a flow's packets on their way. */
struct ibv_flow_action {
    struct ibv_context *context;
};

enum ibv_flow_action_esp_mask { IBV_FLOW_ACTION_ESP_MASK_ESN = 1 << 0 };

/** IPsec ESP: encrypts or decrypts. keymat_ptr and replay_ptr point to the struct that the protocol before
 * them says. */
struct ibv_flow_action_esp_attr {
    struct ibv_flow_action_esp *esp_attr;

    enum ibv_flow_action_esp_keymat keymat_proto;
    uint16_t keymat_len; /* bytes */
    void *keymat_ptr;

    enum ibv_flow_action_esp_replay replay_proto;
    uint16_t replay_len; /* bytes */
    void *replay_ptr;

    struct ibv_flow_action_esp_encap *esp_encap;

    uint32_t comp_mask; /* enum ibv_flow_action_esp_mask */
    uint32_t esn;       /* high half of the extended sequence number */
};

/**
 * Steers the packets that `flow` describes to `qp`. The caller owns the result.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device cannot, EINVAL, EPERM without CAP_NET_RAW.
 */
static __inline__ struct ibv_flow *ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *flow)
{
    struct verbs_context *vctx = verbs_get_ctx_op(qp->context, ibv_create_flow);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->ibv_create_flow(qp, flow);
}

/** Ends a flow. Returns 0, or the errno value. */
static __inline__ int ibv_destroy_flow(struct ibv_flow *flow_id)
{
    struct verbs_context *vctx = verbs_get_ctx_op(flow_id->context, ibv_destroy_flow);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->ibv_destroy_flow(flow_id);
}

/** Makes an ESP action for flows, which the caller owns. Returns NULL and errno: EOPNOTSUPP, EINVAL. */
static __inline__ struct ibv_flow_action *ibv_create_flow_action_esp(struct ibv_context *ctx,
                                                                     struct ibv_flow_action_esp_attr *esp)
{
    struct verbs_context *vctx = verbs_get_ctx_op(ctx, create_flow_action_esp);

    if (!vctx) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return vctx->create_flow_action_esp(ctx, esp);
}

/** Changes an ESP action, such as its ESN. Returns 0, or the errno value. */
static __inline__ int ibv_modify_flow_action_esp(struct ibv_flow_action *action,
                                                 struct ibv_flow_action_esp_attr *esp)
{
    struct verbs_context *vctx = verbs_get_ctx_op(action->context, modify_flow_action_esp);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->modify_flow_action_esp(action, esp);
}

/** Destroys an action. Returns 0, or the errno value: EBUSY while a flow has it. */
static __inline__ int ibv_destroy_flow_action(struct ibv_flow_action *action)
{
    struct verbs_context *vctx = verbs_get_ctx_op(action->context, destroy_flow_action);

    if (!vctx)
        return EOPNOTSUPP;
    return vctx->destroy_flow_action(action);
}

__VERBS_END_DECLS

#endif
