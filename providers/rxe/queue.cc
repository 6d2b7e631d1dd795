// SPDX-License-Identifier: BSD-2-Clause
// The place of a ring that is not there.
#include "queue.hh"

namespace rxe {

constinit rxe_queue_buf nowhere{};

}  // namespace rxe
