// SPDX-License-Identifier: BSD-2-Clause
// Fetching what a rendezvous request that has a tag names, in the name of the queue pair that it came to.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "direct/target.hh"
#include "verbs/qp.hh"

namespace urxe {

/// How many are under way at a queue pair at least, if the program posts nothing by itself. Each takes two requests.
constexpr uint32_t kRendezvous = 64;

/// Posts a READ into the tag's buffer, and behind it the message that tells of its end. IBV_WC_SUCCESS; IBV_WC_WR_FLUSH_ERR where
/// the queue pair has failed; IBV_WC_TM_RNDV_INCOMPLETE where the program must do it: it does not fit into the buffer, or the
/// queue pair cannot do it now. With the lock held of the CQ that the request came to.
ibv_wc_status rendezvous_begin(Qp &qp, uint32_t tag, const uint8_t (&header)[direct::kTagHeader],
                               const ReceiveQueue::Ended &buffer);

/// Completes the request at `next`, which the library posted: that of a READ tells of the tag's data. Under send_lock.
void rendezvous_complete(Qp &qp, ibv_wc_status status);

}  // namespace urxe
