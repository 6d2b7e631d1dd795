// SPDX-License-Identifier: BSD-2-Clause
// Devices as the kernel lists them over RDMA netlink.
#pragma once

#include "base/result.hh"
#include "discovery/devices.hh"

namespace verbs::discovery {

/// Asks the kernel for all devices that have a uverbs character device, in the order of their indices, with
/// the fields that netlink_message.hh names. Errors: those of the socket (EPROTONOSUPPORT: no RDMA, or this
/// network namespace has none; EPERM: forbidden), those that the kernel answers (EINVAL: it is too old for
/// one of the commands), ENOMEM.
///
/// What `known` says of a device is taken over without asking, if its node below `dev_root` is the one that it was.
Result<DeviceChain> netlink_devices(const KnownDevices &known, const char *dev_root);

}  // namespace verbs::discovery
