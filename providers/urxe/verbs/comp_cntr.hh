// SPDX-License-Identifier: BSD-2-Clause
// Completion counters.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "process.hh"

namespace urxe {

/// Operations that can be counted: the bits of ibv_qp_attach_comp_cntr_op.
constexpr uint32_t kCountedOps = 6;

struct CompCntr {
    ibv_comp_cntr verbs;  // must be first
    shared::CountEntry *shared;
    uint32_t index;
    uint32_t users;  ///< operations of QPs; under Process::lock
};

int comp_cntr_query_caps(ibv_context *context, ibv_comp_cntr_caps *caps, size_t size);
ibv_comp_cntr *comp_cntr_create(ibv_context *context, ibv_comp_cntr_init_attr *attr);
int comp_cntr_destroy(ibv_comp_cntr *counter);
int comp_cntr_set(ibv_comp_cntr *counter, uint64_t value);
int comp_cntr_set_err(ibv_comp_cntr *counter, uint64_t value);
int comp_cntr_inc(ibv_comp_cntr *counter, uint64_t amount);
int comp_cntr_inc_err(ibv_comp_cntr *counter, uint64_t amount);
int comp_cntr_read(ibv_comp_cntr *counter, uint64_t *value);
int comp_cntr_read_err(ibv_comp_cntr *counter, uint64_t *value);
int comp_cntr_attach(ibv_qp *qp, ibv_comp_cntr *counter, ibv_qp_attach_comp_cntr_attr *attr);

/// Counts one of a QP's own operations (a bit of ibv_qp_attach_comp_cntr_op; 0: none), where it has a counter for it.
void comp_cntr_count(Qp &qp, uint32_t op, bool is_success, uint64_t bytes);

/// Takes the counters from a QP that goes. Under process.lock.
void comp_cntr_detach(Qp &qp);

}  // namespace urxe
