// SPDX-License-Identifier: BSD-2-Clause
// Flow rules that steer frames to raw QPs.
#pragma once

#include <infiniband/verbs.h>

#include "raw/rule.hh"

namespace urxe {

struct Qp;

struct Flow {
    ibv_flow flow;  // must be first
    raw::Rule rule;
    Qp *qp;
    Flow *next;  ///< of the tap
};

ibv_flow *flow_create(ibv_qp *qp, ibv_flow_attr *attr);
int flow_destroy(ibv_flow *flow);

}  // namespace urxe
