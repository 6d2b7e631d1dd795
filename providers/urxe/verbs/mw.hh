// SPDX-License-Identifier: BSD-2-Clause
// Memory windows (IBTA 10.6.6).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/qp.hh"

namespace urxe {

struct Mw {
    ibv_mw mw;  // must be first
    uint32_t index;
    Mw *next;  ///< of the process; under Process::windows_lock
};

ibv_mw *mw_alloc(ibv_pd *pd, ibv_mw_type type);
int mw_dealloc(ibv_mw *mw);
/// Posts a request that binds a window of type 1.
int mw_bind(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind);

/// Fills in a request that binds `mw` under `key`. 0, EINVAL, or EPERM for a region of another protection domain.
int mw_set_bind(Request &request, const ibv_mw &mw, uint32_t key, const ibv_mw_bind_info &info);

/// Carries out IBV_WR_BIND_MW or IBV_WR_LOCAL_INV. Under the QP's send lock; under no Access, and not under process->lock.
ibv_wc_status mw_execute(Qp &qp, const Request &request);

/// A peer says that a request of that QP has invalidated a key.
void mw_invalidated(Process &process, uint32_t key, uint32_t qp_num);

/// Whether a window is bound to the region with that key.
bool mw_is_bound_to(Process &process, uint32_t key);

}  // namespace urxe
