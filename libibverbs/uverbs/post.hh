// SPDX-License-Identifier: BSD-2-Clause
// Commands that post work requests through the kernel, and wake a software device for queues that it shares.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

// Each posts the list that starts at `wr`; on failure *bad_wr is the first request that was not posted. An empty
// list (null) posts nothing: drivers that share their queues with the process look at them then.

Status post_send(Channel &channel, uint32_t qp_handle, ibv_qp_type type, ibv_send_wr *wr,
                 ibv_send_wr **bad_wr);
Status post_recv(Channel &channel, uint32_t qp_handle, ibv_recv_wr *wr, ibv_recv_wr **bad_wr);
Status post_srq_recv(Channel &channel, uint32_t srq_handle, ibv_recv_wr *wr, ibv_recv_wr **bad_wr);

}  // namespace verbs::uverbs
