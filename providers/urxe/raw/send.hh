// SPDX-License-Identifier: BSD-2-Clause
// Sending Ethernet frames.
#pragma once

#include "direct/execute.hh"

namespace urxe::raw {

/// Carries out a SEND of a raw QP. kNotReady: the interface's queue is full. Under the QP's send lock.
direct::Result send(Qp &qp, const Request &request);

}  // namespace urxe::raw
