// SPDX-License-Identifier: BSD-2-Clause
// The devices of the process: one verbs_device for each that has a provider, shared by all lists and
// contexts.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>

#include "base/memory.hh"
#include "base/result.hh"

namespace verbs::provider {

/// A list as ibv_get_device_list returns it: `count` devices, one reference held on each, and a null pointer
/// behind.
struct DeviceArray {
    Allocated<ibv_device *> devices;
    size_t count = 0;
};

/// Looks for devices, loads the providers that they need, and lists those that have one. A device that is
/// still there keeps its verbs_device; one that is gone (or was replaced by another of its name) lives until
/// its last reference goes. The caller releases each device with device_unref. ENOSYS: no kernel support;
/// ENOMEM. Any thread.
Result<DeviceArray> list_devices();

/// One more user of the device: a list or an open context. Any thread.
void device_ref(verbs_device &device);

/// One user less; the last one gives the device back to its provider. Any thread, not from inside a
/// provider's alloc_device or uninit_device.
void device_unref(verbs_device &device);

}  // namespace verbs::provider
