// SPDX-License-Identifier: BSD-2-Clause
// Carrying out a request on the objects of its target, by whoever posted it: requester and responder in one.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/qp.hh"

namespace urxe::direct {

enum class Outcome : uint8_t {
    kDone,       ///< with a status
    kNotReady,   ///< the target does not answer (yet): it is not connected, or in the wrong state
    kNoReceive,  ///< the target has no receive for it
};

struct Result {
    Outcome outcome;
    ibv_wc_status status;
    uint32_t byte_len;
};

/// Carries out a request of a connected QP. Under the QP's send lock. IBTA 9.7, 9.9.
Result execute(Qp &qp, const Request &request);

/// Carries out a SEND of a datagram QP; what its target does not take is lost. IBTA 9.8.3.
Result execute_datagram(Qp &qp, const Request &request);

}  // namespace urxe::direct
