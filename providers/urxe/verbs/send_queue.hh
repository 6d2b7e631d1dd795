// SPDX-License-Identifier: BSD-2-Clause
// What both ways to post a request share.
#pragma once

#include "verbs/ah.hh"
#include "verbs/qp.hh"

namespace urxe {

/// Whether the request of that number has a place.
bool can_post(const Qp &qp, uint32_t number);

void set_destination(Request &request, const Ah &ah, uint32_t qp_num, uint32_t qkey);
/// Each gives 0, or EINVAL where it is more than the QP was made for.
int set_segments(const Qp &qp, Request &request, const ibv_sge *list, uint32_t count);
int set_inline(const Qp &qp, Request &request, const ibv_sge *list, uint32_t count);

}  // namespace urxe
