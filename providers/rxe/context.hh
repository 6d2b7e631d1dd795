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

/// Passes the outcome of mapping a resized queue on, and logs what a failure means.
int resized(const char *queue, ibv_context &context, int error);

/// verbs_device_ops.alloc_context and import_context.
verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *private_data);
verbs_context *context_import(ibv_device *device, int cmd_fd);

}  // namespace rxe
