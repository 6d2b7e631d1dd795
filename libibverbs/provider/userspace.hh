// SPDX-License-Identifier: BSD-2-Clause
// Devices that exist without the kernel: asked for by the user, listed by their provider.
#pragma once

#include <infiniband/verbs_provider.h>

#include "base/result.hh"

namespace verbs::discovery {
class DeviceChain;
}

namespace verbs::provider {

/// What a provider registers, as far as it knows the struct, with an op that answers EOPNOTSUPP for each that it lacks.
verbs_userspace_ops complete(const verbs_userspace_ops &registered);

/// Which devices the user asks the provider for: the environment variable called like it in capital letters
/// (ignored in setuid programs), else `configured`. Null: none. The string lives as long as the environment is left alone.
const char *asked_of(const char *provider, const char *configured);

/// Adds what a provider that was asked for `which` lists, behind the devices in `found`, which refer to `ops`. On failure nothing is added. A
/// device with the name of one that is there is left out, and a warning says so.
Status list_userspace_devices(const verbs_userspace_ops &ops, const char *which,
                              discovery::DeviceChain &found);

/// What verbs_userspace_list_add does.
Status add_userspace_device(verbs_userspace_list &list, const verbs_userspace_device &device);

/// The ops behind a userspace device; null for a device of the kernel.
const verbs_userspace_ops *userspace_ops(const verbs_sysfs_dev &device);

inline const verbs_userspace_ops *userspace_ops(const ibv_context *context)
{
    return userspace_ops(*verbs_get_device(context->device)->sysfs);
}

}  // namespace verbs::provider
