// SPDX-License-Identifier: BSD-2-Clause
// What the kernel driver of a device adds to commands: the memory of queues, numbers of its own.
#pragma once

#include "kernel/command.hh"

namespace sim {

/// Rounds what was asked for to what the driver makes, in `object`, and answers with its driver data. Drivers other than
/// rxe and siw take sizes as they are and answer with a fixed pattern.
void driver_context(Call &call);
void driver_pd(Call &call);
void driver_cq(Call &call, Object &cq);
void driver_qp(Call &call, Object &qp);
void driver_srq(Call &call, Object &srq);
void driver_mr(Call &call, Object &mr);
void driver_ah(Call &call, Object &ah);
void driver_other(Call &call);
/// MODIFY_SRQ that resizes.
void driver_resize_srq(Call &call, Object &srq);

}  // namespace sim
