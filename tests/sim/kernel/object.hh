// SPDX-License-Identifier: BSD-2-Clause
// An object of the simulated kernel, as it lies in memory that processes share.
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include <array>
#include <cstdint>

namespace sim {

constexpr uint32_t kNone = UINT32_MAX;

/// No pointers: each process maps the table elsewhere.
struct Object {
    uint16_t in_use;
    uint16_t kind;                  ///< UVERBS_OBJECT_*
    uint32_t users;                 ///< objects that hold this one
    std::array<uint32_t, 6> holds;  ///< handles of those that this one holds, kNone where there is none
    uint32_t number;                ///< QP, SRQ or WQ number, lkey, rkey of a window, table number
    uint32_t number2;               ///< rkey
    uint64_t user_handle;
    uint32_t type;           ///< of QP, SRQ, WQ, MW, flow
    uint32_t state;          ///< of QP, WQ
    uint32_t async_channel;  ///< where its asynchronous events go
    uint32_t comp_channel;   ///< where a completion queue's events go; 0: nowhere
    uint32_t async_events;   ///< delivered so far
    uint32_t comp_events;
    uint32_t armed;  ///< notification was requested
    uint32_t access;
    uint64_t start, length, iova;
    uint64_t mmap_offset, mmap_size;
    ib_uverbs_qp_cap cap;  ///< of QP; of SRQ and WQ max_recv_wr, max_recv_sge; of CQ max_recv_wr
    uint32_t limit;        ///< of SRQ
    uint32_t is_srq;
    uint32_t sq_sig_all;
    uint32_t cq_count, cq_period;
    uint64_t values[2];               ///< of completion counters
    ib_uverbs_modify_qp attributes;   ///< of QP: what was set
    std::array<uint32_t, 128> table;  ///< of RWQ indirection tables: the handles of its work queues
    uint32_t table_size;
};

}  // namespace sim
