/* SPDX-License-Identifier: BSD-2-Clause */
/* Global identifiers: the addresses of a port, and its table of them (IBTA 4.1.1, 7.10). */
#ifndef INFINIBAND_VERBS_GID_H
#define INFINIBAND_VERBS_GID_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** A 128-bit GID in network byte order; on RoCE it is an IPv6 or an IPv4-mapped address. */
union ibv_gid {
    uint8_t raw[16];
    struct {
        __be64 subnet_prefix;
        __be64 interface_id;
    } global;
};

/** What packets that use a GID look like. */
enum ibv_gid_type {
    IBV_GID_TYPE_IB,      /* InfiniBand link layer */
    IBV_GID_TYPE_ROCE_V1, /* Ethernet, GRH (IBTA annex A16) */
    IBV_GID_TYPE_ROCE_V2  /* Ethernet, IP and UDP (IBTA annex A17) */
};

/** An entry of a port's GID table. */
struct ibv_gid_entry {
    union ibv_gid gid;
    uint32_t gid_index;
    uint32_t port_num;
    uint32_t gid_type;     /* enum ibv_gid_type */
    uint32_t ndev_ifindex; /* network interface it belongs to; 0: none */
};

/**
 * Reads entry `index` of port `port_num`'s GID table (ports count from 1, entries from 0). An empty entry
 * reads as zeros. IBTA 11.2.1.2.
 *
 * Returns 0, or -1 and errno.
 */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);

/* The exported form of ibv_query_gid_ex: entry_size is the size of the caller's struct. */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);

/**
 * Reads entry `gid_index` of the port's GID table with its type and network interface. `flags` is 0.
 *
 * Returns 0, or the errno value: ENODATA for an empty entry, EINVAL for a port or index that does not exist.
 */
static __inline__ int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
                                       struct ibv_gid_entry *entry, uint32_t flags)
{
    return _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, sizeof(*entry));
}

/* The exported form of ibv_query_gid_table: entry_size is the size of the caller's struct. */
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
                             uint32_t flags, size_t entry_size);

/**
 * Reads the valid entries of all ports' GID tables into `entries`, an array of `max_entries`. Empty entries
 * are left out. `flags` is 0.
 *
 * Returns how many it read, or a negative errno value.
 */
static __inline__ ssize_t ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                                              size_t max_entries, uint32_t flags)
{
    return _ibv_query_gid_table(context, entries, max_entries, flags, sizeof(*entries));
}

#define ETHERNET_LL_SIZE 6

/* UDP source ports of RoCE v2 (IBTA A17.9.2), and the bits of a GRH's flow label. */
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MIN (0xC000)
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MAX (0xFFFF)
#define IB_GRH_FLOWLABEL_MASK (0x000FFFFF)

/** The UDP source port that stands for the flow label `fl`: its high bits folded into 14 bits, from 0xC000
 * on. */
static __inline__ uint16_t ibv_flow_label_to_udp_sport(uint32_t fl)
{
    uint32_t folded = (fl & 0x03fff) ^ ((fl & 0xfc000) >> 14);

    return __verbs_cast(uint16_t, folded | IB_ROCE_UDP_ENCAP_VALID_PORT_MIN);
}

__VERBS_END_DECLS

#endif
