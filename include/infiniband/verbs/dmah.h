/* SPDX-License-Identifier: BSD-2-Clause */
/* DMA handles: how the device's accesses to a memory region are to be treated on the PCI bus. */
#ifndef INFINIBAND_VERBS_DMAH_H
#define INFINIBAND_VERBS_DMAH_H

#include <infiniband/verbs/context.h>

__VERBS_BEGIN_DECLS

/** The memory that a steering tag is meant for (PCI Express 6.17). */
enum ibv_tph_mem_type {
    IBV_TPH_MEM_TYPE_VM, /* volatile */
    IBV_TPH_MEM_TYPE_PM  /* persistent */
};

enum ibv_dmah_init_attr_mask {
    IBV_DMAH_INIT_ATTR_MASK_CPU_ID = 1 << 0,
    IBV_DMAH_INIT_ATTR_MASK_PH = 1 << 1,
    IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE = 1 << 2
};

/** TLP processing hints of a DMA handle. */
struct ibv_dmah_init_attr {
    uint32_t comp_mask;   /* enum ibv_dmah_init_attr_mask */
    uint32_t cpu_id;      /* the CPU that will read the data; this thread must be allowed to run on it */
    uint8_t ph;           /* processing hint, 2 bits (PCI Express 6.17.2) */
    uint8_t tph_mem_type; /* enum ibv_tph_mem_type */
};

/** DMA handle, for ibv_mr_init_attr.dmah. */
struct ibv_dmah {
    struct ibv_context *context;
};

/**
 * Makes a DMA handle, which the caller owns.
 *
 * Returns NULL and errno: EOPNOTSUPP when the device has none, EINVAL for an unknown comp_mask bit.
 */
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);

/** Releases a DMA handle. Returns 0, or the errno value: EBUSY while an MR has it. */
int ibv_dealloc_dmah(struct ibv_dmah *dmah);

__VERBS_END_DECLS

#endif
