// SPDX-License-Identifier: BSD-2-Clause
// The place of a ring that is not there.
#include "queue.hh"

namespace rxe {
namespace {

constinit rxe_queue_buf empty_and_full{};

}  // namespace

rxe_queue_buf *nowhere()
{
    return &empty_and_full;
}

}  // namespace rxe
