// SPDX-License-Identifier: BSD-2-Clause
// How this library defines libc's functions.
#pragma once

#include <errno.h>

#include "faults.hh"

/// The definition that the program finds before libc's.
#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

/// Returns from the function when a fault is due for this call.
#define SIM_FAIL_ON(call, result)                                                                   \
    do {                                                                                            \
        if (const int fault_ = sim::libc_fault(sim::LibcCall::call, __builtin_return_address(0))) { \
            errno = fault_;                                                                         \
            return result;                                                                          \
        }                                                                                           \
    } while (false)
