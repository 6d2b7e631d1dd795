// SPDX-License-Identifier: BSD-2-Clause
// The character device of an RDMA device: found by its device number, whatever it is called.
#pragma once

#include <infiniband/driver.h>

#include "base/result.hh"
#include "base/unique_fd.hh"

namespace verbs::discovery {

/// Opens the uverbs device for reading and writing, close-on-exec. A node counts only if its device number is
/// the one that the kernel gave the device: first infiniband/uverbsN below `dev_root`, then char/MAJOR:MINOR,
/// then the other nodes in infiniband/. Waits for nothing. Errors: that of the first node which is the device
/// and refuses (EACCES, EPERM, EMFILE, ENXIO, ...); ENOENT where no node is the device. Any thread.
Result<UniqueFd> open_character_device(const verbs_sysfs_dev &device, const char *dev_root = "/dev");

}  // namespace verbs::discovery
