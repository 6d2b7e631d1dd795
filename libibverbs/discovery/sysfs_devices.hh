// SPDX-License-Identifier: BSD-2-Clause
// Devices as sysfs shows them, and single fields from there.
#pragma once

#include "base/result.hh"
#include "discovery/devices.hh"

namespace verbs::discovery {

/// All devices under class/infiniband_verbs, in the order of their numbers, with names, device number and
/// abi_ver. ENOSYS: there is no such class; ENOMEM; those of reading the directory.
Result<DeviceChain> sysfs_devices(const char *sysfs_root);

/// Fills from ibdev_path what `device` does not have yet: node_type, node_guid, num_ports.
void read_missing_fields(verbs_sysfs_dev &device);

}  // namespace verbs::discovery
