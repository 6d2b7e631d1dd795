// SPDX-License-Identifier: BSD-2-Clause
// Finding the way to a QP: whether it is in this process, in another one of the user on this host, or elsewhere.
#pragma once

#include "verbs/qp.hh"

namespace urxe {

/// Sets `peer` and `remote` of a connected QP from its attributes; null where the other QP is not on this host.
void find_connected_peer(Qp &qp);
/// Sets `peer` of a datagram QP for a request, unless it is the one of the request before.
void find_datagram_peer(Qp &qp, const Request &request);
/// Forgets either.
void forget_peer(Qp &qp);

}  // namespace urxe
