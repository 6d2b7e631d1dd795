/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles: where datagrams go; and multicast groups (IBTA 10.2.2, 10.5). */
#ifndef INFINIBAND_VERBS_AH_H
#define INFINIBAND_VERBS_AH_H

#include <infiniband/verbs/cq.h>
#include <infiniband/verbs/gid.h>

__VERBS_BEGIN_DECLS

/** A route through other subnets; on RoCE every route is one (IBTA 8.3). */
struct ibv_global_route {
    union ibv_gid dgid;
    uint32_t flow_label;
    uint8_t sgid_index; /* of the local port's GID table */
    uint8_t hop_limit;
    uint8_t traffic_class;
};

/** Global route header, as the first 40 bytes of a received datagram have it (IBTA 8.3). */
struct ibv_grh {
    __be32 version_tclass_flow; /* bits 31-28 IP version, 27-20 traffic class, 19-0 flow label */
    __be16 paylen;
    uint8_t next_hdr;
    uint8_t hop_limit;
    union ibv_gid sgid;
    union ibv_gid dgid;
};

/** Address vector (IBTA 11.2.2.1). */
struct ibv_ah_attr {
    struct ibv_global_route grh; /* if is_global */
    uint16_t dlid;               /* host byte order; InfiniBand only */
    uint8_t sl;
    uint8_t src_path_bits;
    uint8_t static_rate; /* enum ibv_rate */
    uint8_t is_global;
    uint8_t port_num;
};

/** Address handle, for datagram sends of QPs in the same protection domain. */
struct ibv_ah {
    struct ibv_context *context;
    struct ibv_pd *pd;
    uint32_t handle;
};

/** Makes an address handle, which the caller owns (IBTA 11.2.2.1). Returns NULL and errno. */
struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);

/**
 * Fills `ah_attr` with the way back to the sender of a datagram: `wc` is its completion, `grh` the start of
 * its buffer, which counts only if `wc` has IBV_WC_GRH, `port_num` the port it came to.
 *
 * Returns 0, or -1 and errno: the GRH's destination must be in the port's GID table.
 */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
                        struct ibv_ah_attr *ah_attr);

/** ibv_init_ah_from_wc and ibv_create_ah in one. Returns NULL and errno. */
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                     uint8_t port_num);

/** Destroys an address handle. No posted work request may use it. Returns 0, or the errno value. */
int ibv_destroy_ah(struct ibv_ah *ah);

/**
 * Adds a UD QP to the multicast group `gid`; `lid` (host byte order) counts on InfiniBand only. The port must
 * have joined the group at the subnet administrator, or the interface on Ethernet (IBTA 10.5.2).
 *
 * Returns 0, or the errno value.
 */
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/** Removes a QP from a multicast group. Returns 0, or the errno value: EINVAL when it is not in it. */
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/**
 * Finds the Ethernet address, and the VLAN (0xffff: none), that lead to attr->grh.dgid on a RoCE port; it may
 * have to ask the neighbour, and wait for that.
 *
 * Returns 0, or a negative errno value.
 */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid);

__VERBS_END_DECLS

#endif
