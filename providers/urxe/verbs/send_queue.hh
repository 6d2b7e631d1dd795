// SPDX-License-Identifier: BSD-2-Clause
// What both ways to post a request share.
#pragma once

#include "verbs/ah.hh"
#include "verbs/qp.hh"

namespace urxe {

/// Whether the request of that number has a place.
bool can_post(const Qp &qp, uint32_t number);

/// Whether QPs of this type know an operation (IBTA 10.8.1).
bool knows(const Qp &qp, unsigned opcode);

/// Whether the QP is in a state in which requests can be posted.
inline bool takes_requests(const Qp &qp)
{
    const ibv_qp_state state = qp.state.load(std::memory_order_relaxed);
    return state != IBV_QPS_RESET && state != IBV_QPS_INIT && state != IBV_QPS_RTR;
}

/// Fills in what all requests have. `flags` are ibv_send_flags.
void set_common(const Qp &qp, Request &request, uint64_t wr_id, uint32_t opcode, unsigned flags);

void set_destination(Request &request, const Ah &ah, uint32_t qp_num, uint32_t qkey);
/// Each gives 0, or EINVAL where it is more than the QP was made for.
int set_segments(const Qp &qp, Request &request, const ibv_sge *list, uint32_t count);
int set_inline(const Qp &qp, Request &request, const ibv_sge *list, uint32_t count);

}  // namespace urxe
