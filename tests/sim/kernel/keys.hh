// SPDX-License-Identifier: BSD-2-Clause
// Numbers that a device gives out, the same in every run.
#pragma once

#include "kernel/command.hh"
#include "session.hh"

namespace sim {

inline uint32_t next_key(Call &call)
{
    return Session::get().state_of(call.device()).next_key.fetch_add(1) << 8 | 0x5a;
}

inline uint32_t next_qpn(Call &call)
{
    return Session::get().state_of(call.device()).next_qpn.fetch_add(1) & 0xffffff;
}

inline uint32_t next_srqn(Call &call)
{
    return Session::get().state_of(call.device()).next_srqn.fetch_add(1) & 0xffffff;
}

}  // namespace sim
