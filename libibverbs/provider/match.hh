// SPDX-License-Identifier: BSD-2-Clause
// Which provider a device belongs to.
#pragma once

#include <infiniband/driver.h>

namespace verbs::provider {

/// Whether the device is one of the provider's: by match_device, else by match_table, and then `device.match` is the
/// row that fits. What the device's interface version is does not matter here.
///
/// A row that goes by the name of a software device ("rdma_device:*Nrxe*") counts only while the kernel driver behind
/// the device is unknown, if the table also knows kernel drivers: names can be changed.
bool is_match(const verbs_device_ops &ops, verbs_sysfs_dev &device);

/// Whether the provider speaks the interface version of the device's kernel driver.
bool speaks_abi_of(const verbs_device_ops &ops, const verbs_sysfs_dev &device);

/// What the registered providers say to a device.
struct Match {
    const verbs_device_ops *provider =
        nullptr;  ///< the first that matches and speaks the device's interface version
    const verbs_device_ops *misfit = nullptr;  ///< else the first that matches and does not
};

/// Asks all registered providers, in the order in which they registered.
Match match_registered(verbs_sysfs_dev &device);

}  // namespace verbs::provider
