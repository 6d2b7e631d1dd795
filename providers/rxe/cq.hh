// SPDX-License-Identifier: BSD-2-Clause
// Completion queues.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include "common/lock.hh"
#include "domain.hh"
#include "queue.hh"

namespace rxe {

struct Cq {
    verbs_cq verbs;
    Queue<ib_uverbs_wc> ring;
    common::SpinLock lock;
    Membership membership;

    // Extended polling: the run of completions that it has seen, one behind the other in memory.
    const ib_uverbs_wc *current;  // what the read functions read; null before the first and after the last
    uint32_t index;               // of the current one, or where the next will lie
    uint32_t last;                // of the run; `index` where nothing more is known
    size_t step;                  // bytes from one completion to the next
};

inline Cq *to_cq(ibv_cq *cq)
{
    return reinterpret_cast<Cq *>(cq);
}

inline Cq *to_cq(ibv_cq_ex *cq)
{
    return reinterpret_cast<Cq *>(cq);
}

// The kernel's values of wc_flags, which its uverbs interface does not name, and those of verbs.h differ in the third: rxe
// checks no IP checksum, so that bit of the kernel never means one.
constexpr unsigned int kKernelWithInvalidate = 1 << 2;

/// The wc_flags of verbs.h for those of the kernel.
inline unsigned int wc_flags(unsigned int kernel_flags)
{
    return (kernel_flags & kKernelWithInvalidate) != 0
               ? (kernel_flags & ~kKernelWithInvalidate) | IBV_WC_WITH_INV
               : kernel_flags;
}

ibv_cq *cq_create(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector);
ibv_cq_ex *cq_create_ex(ibv_context *context, ibv_cq_init_attr_ex *attr);
int cq_resize(ibv_cq *cq, int cqe);
int cq_destroy(ibv_cq *cq);
int cq_poll(ibv_cq *cq, int num_entries, ibv_wc *wc);

/// Sets the functions with which programs poll an extended CQ.
void cq_ex_init(ibv_cq_ex &cq);

}  // namespace rxe
