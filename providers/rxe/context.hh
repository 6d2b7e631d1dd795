// SPDX-License-Identifier: BSD-2-Clause
// An open rxe device.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include "common/memory.hh"

namespace rxe {

struct Context {
    verbs_context verbs;
    uint64_t capabilities;  // device_cap_flags_ex: tells which operations this kernel has
};

inline Context *to_context(ibv_context *context)
{
    return reinterpret_cast<Context *>(reinterpret_cast<char *>(context) - offsetof(Context, verbs.context));
}

/// verbs_device_ops.alloc_context.
verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *private_data);

}  // namespace rxe
