// SPDX-License-Identifier: BSD-2-Clause
// Which attributes each transition of a queue pair needs and permits (IBTA 11.2.5.2, table of QP state transition
// properties).
#pragma once

#include <infiniband/verbs.h>

namespace urxe {

/// 0, or EINVAL where a QP of that type may not go from one state to the other with just those attributes.
int qp_check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace urxe
