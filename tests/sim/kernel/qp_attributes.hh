// SPDX-License-Identifier: BSD-2-Clause
// Attributes of queue pairs: QUERY_QP and MODIFY_QP.
#pragma once

#include "kernel/command.hh"

namespace sim {

int query_qp(Call &call);
int modify_qp(Call &call);
int modify_qp_ex(Call &call);
std::span<const Field> query_qp_request();
std::span<const Field> query_qp_response();
std::span<const Field> modify_qp_request();

}  // namespace sim
