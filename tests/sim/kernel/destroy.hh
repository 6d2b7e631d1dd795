// SPDX-License-Identifier: BSD-2-Clause
// Destroying objects, which is the same for most kinds.
#pragma once

#include "kernel/command.hh"

namespace sim {

/// Removes the object with the handle; an ioctl's was checked before, a written one's is ENOENT where
/// unknown. `before` gets the object's last facts.
inline int destroy_object(Call &call, uint16_t kind, uint64_t handle, Object *before = nullptr)
{
    int error = 0;
    Object *object = call.file().find(kind, handle, error);
    if (object == nullptr)
        return error;
    if (before != nullptr)
        *before = *object;
    return call.file().remove(*object);
}

}  // namespace sim
