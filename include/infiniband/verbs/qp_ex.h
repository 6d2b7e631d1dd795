/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting sends by function calls: a call per operation and per argument, between start and complete. */
#ifndef INFINIBAND_VERBS_QP_EX_H
#define INFINIBAND_VERBS_QP_EX_H

#include <infiniband/verbs/qp.h>

__VERBS_BEGIN_DECLS

/** What a flush reaches (IBTA A19.4.1): an MR needs the access flag of the same name. */
enum ibv_placement_type {
    IBV_FLUSH_GLOBAL = 1U << 0,    /* visible to all */
    IBV_FLUSH_PERSISTENT = 1U << 1 /* survives a power failure */
};

/** What a flush covers (IBTA A19.4.1). */
enum ibv_selectivity_level {
    IBV_FLUSH_RANGE = 0,
    IBV_FLUSH_MR /* the whole region */
};

/**
 * Queue pair with the ibv_wr functions, made by ibv_create_qp_ex with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. wr_id
 * and wr_flags are the caller's to set before each operation. Functions of operations that were not asked for
 * must not be called.
 */
/* ABI-frozen: new members go behind all others. */
struct ibv_qp_ex {
    struct ibv_qp qp_base;
    uint64_t comp_mask;

    uint64_t wr_id;
    unsigned int wr_flags; /* enum ibv_send_flags */

    void (*wr_atomic_cmp_swp)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare,
                              uint64_t swap);
    void (*wr_atomic_fetch_add)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add);
    void (*wr_bind_mw)(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
                       const struct ibv_mw_bind_info *bind_info);
    void (*wr_local_inv)(struct ibv_qp_ex *qp, uint32_t invalidate_rkey);
    void (*wr_rdma_read)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
    void (*wr_rdma_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
    void (*wr_rdma_write_imm)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data);

    void (*wr_send)(struct ibv_qp_ex *qp);
    void (*wr_send_imm)(struct ibv_qp_ex *qp, __be32 imm_data);
    void (*wr_send_inv)(struct ibv_qp_ex *qp, uint32_t invalidate_rkey);
    void (*wr_send_tso)(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss);

    void (*wr_set_ud_addr)(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
                           uint32_t remote_qkey);
    void (*wr_set_xrc_srqn)(struct ibv_qp_ex *qp, uint32_t remote_srqn);

    void (*wr_set_inline_data)(struct ibv_qp_ex *qp, void *addr, size_t length);
    void (*wr_set_inline_data_list)(struct ibv_qp_ex *qp, size_t num_buf,
                                    const struct ibv_data_buf *buf_list);
    void (*wr_set_sge)(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length);
    void (*wr_set_sge_list)(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list);

    void (*wr_start)(struct ibv_qp_ex *qp);
    int (*wr_complete)(struct ibv_qp_ex *qp);
    void (*wr_abort)(struct ibv_qp_ex *qp);

    void (*wr_atomic_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *atomic_wr);
    void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len, uint8_t type,
                     uint8_t level);
};

/** The ibv_wr interface of a QP; NULL when it was made without it. */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp);

/** Begins a batch. Until ibv_wr_complete or ibv_wr_abort other threads wait, unless the QP has a thread
 * domain. */
static __inline__ void ibv_wr_start(struct ibv_qp_ex *qp)
{
    qp->wr_start(qp);
}

/** Posts the batch. Returns 0, or the errno value of the first thing that was wrong with it: nothing is
 * posted then. */
static __inline__ int ibv_wr_complete(struct ibv_qp_ex *qp)
{
    return qp->wr_complete(qp);
}

/** Drops the batch. */
static __inline__ void ibv_wr_abort(struct ibv_qp_ex *qp)
{
    qp->wr_abort(qp);
}

/* Operations. Each begins a work request; the setters that it needs follow. */

/** Replaces the 64 bits at `remote_addr` by `swap` if they equal `compare`; the setter's buffer gets what was
 * there. */
static __inline__ void ibv_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                             uint64_t compare, uint64_t swap)
{
    qp->wr_atomic_cmp_swp(qp, rkey, remote_addr, compare, swap);
}

/** Adds `add` to the 64 bits at `remote_addr`; the setter's buffer gets what was there. */
static __inline__ void ibv_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                               uint64_t add)
{
    qp->wr_atomic_fetch_add(qp, rkey, remote_addr, add);
}

/** Writes the 8 bytes at `atomic_wr` as a whole (IBTA A19.4.2). Needs no data setter. */
static __inline__ void ibv_wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                           const void *atomic_wr)
{
    qp->wr_atomic_write(qp, rkey, remote_addr, atomic_wr);
}

/** Binds a type 2 window, which gets the key `rkey`. */
static __inline__ void ibv_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
                                      const struct ibv_mw_bind_info *bind_info)
{
    qp->wr_bind_mw(qp, mw, rkey, bind_info);
}

/**
 * Flushes what earlier WRITEs of this QP brought to `len` bytes at `remote_addr`; `type` is of enum
 * ibv_placement_type, `level` of enum ibv_selectivity_level (IBTA A19.4.1).
 */
static __inline__ void ibv_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
                                    uint8_t type, uint8_t level)
{
    qp->wr_flush(qp, rkey, remote_addr, len, type, level);
}

/** Invalidates a local key. */
static __inline__ void ibv_wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    qp->wr_local_inv(qp, invalidate_rkey);
}

static __inline__ void ibv_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    qp->wr_rdma_read(qp, rkey, remote_addr);
}

static __inline__ void ibv_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    qp->wr_rdma_write(qp, rkey, remote_addr);
}

static __inline__ void ibv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                             __be32 imm_data)
{
    qp->wr_rdma_write_imm(qp, rkey, remote_addr, imm_data);
}

static __inline__ void ibv_wr_send(struct ibv_qp_ex *qp)
{
    qp->wr_send(qp);
}

static __inline__ void ibv_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
    qp->wr_send_imm(qp, imm_data);
}

/** Sends, and has the receiver invalidate its key `invalidate_rkey`. */
static __inline__ void ibv_wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    qp->wr_send_inv(qp, invalidate_rkey);
}

/** Sends the data in TCP segments of `mss` bytes, each behind the headers in `hdr`. */
static __inline__ void ibv_wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
    qp->wr_send_tso(qp, hdr, hdr_sz, mss);
}

/* Setters, for the operation begun last. */

/** UD: where it goes. */
static __inline__ void ibv_wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
                                          uint32_t remote_qkey)
{
    qp->wr_set_ud_addr(qp, ah, remote_qpn, remote_qkey);
}

/** XRC: the SRQ that it goes to. */
static __inline__ void ibv_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
    qp->wr_set_xrc_srqn(qp, remote_srqn);
}

/** Its data, copied now. */
static __inline__ void ibv_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
    qp->wr_set_inline_data(qp, addr, length);
}

static __inline__ void ibv_wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
                                                   const struct ibv_data_buf *buf_list)
{
    qp->wr_set_inline_data_list(qp, num_buf, buf_list);
}

/** Its data, in registered memory. */
static __inline__ void ibv_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    qp->wr_set_sge(qp, lkey, addr, length);
}

static __inline__ void ibv_wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge,
                                           const struct ibv_sge *sg_list)
{
    qp->wr_set_sge_list(qp, num_sge, sg_list);
}

__VERBS_END_DECLS

#endif
