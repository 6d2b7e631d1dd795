// SPDX-License-Identifier: BSD-2-Clause
// What the kernel driver of a device adds to commands: the memory of queues, numbers of its own.
#pragma once

#include "kernel/command.hh"

namespace sim {

/// Rounds what was asked for to what the driver makes, in `object`, and answers with its driver data. Drivers
/// other than rxe and siw take sizes as they are and answer with zeros; the unknown driver with a pattern.
void driver_context(Call &call);
void driver_pd(Call &call);
int driver_cq(Call &call, Object &cq);
/// `answer` is what the command tells of the capacities, which is not what rxe keeps.
int driver_qp(Call &call, Object &qp, ib_uverbs_qp_cap &answer);
int driver_srq(Call &call, Object &srq, ib_uverbs_qp_cap &answer);
void driver_mr(Call &call, Object &mr);
void driver_ah(Call &call, Object &ah);
void driver_other(Call &call);
/// Before MODIFY_SRQ; `resizes` says that the capacity of `srq` is a new one.
int driver_modify_srq(Call &call, Object &srq, bool resizes);

}  // namespace sim
