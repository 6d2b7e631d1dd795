// SPDX-License-Identifier: BSD-2-Clause
// Faults on demand: VERBS_SIM_FAIL.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernel/command.hh"

namespace sim {

/// Kinds of libc calls that can fail.
enum class LibcCall : uint8_t {
    kOpen,
    kClose,
    kFcntl,
    kIoctl,
    kWrite,
    kRead,
    kMmap,
    kPoll,
    kSocket,
    kBind,
    kSendmsg,
    kRecvmsg,
    kFopen,
    kOpendir,
    kStat,
    kMalloc,
    kMadvise,
    kCount
};

/// Whether the call that `caller` (a return address) makes is to fail, with which errno; 0: it goes on.
/// Counts the calls that come from the library, its providers or libnl, and only these can fail.
int libc_fault(LibcCall call, const void *caller);

/// The same for a command.
int command_fault(const Call &call);

/// EINVAL: not understood, and nothing changed.
int set_faults(std::string_view text);

/// Calls of the library; UINT64_MAX: no such kind.
uint64_t count_calls(std::string_view kind, bool reset);

}  // namespace sim
