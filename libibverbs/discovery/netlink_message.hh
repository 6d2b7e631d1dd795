// SPDX-License-Identifier: BSD-2-Clause
// Answers of RDMA netlink (rdma/rdma_netlink.h), taken apart.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>
#include <span>

#include "base/result.hh"

namespace verbs::discovery {

/// Each takes one whole netlink message, header included and aligned as netlink aligns it, and fills what the
/// message tells of `device`. EBADMSG, with `device` untouched: it is cut short or lacks what the kernel
/// always sends.

/// An answer to RDMA_NLDEV_CMD_GET: index, name, number of ports; node type and GUID where the kernel sends
/// them.
Status parse_device(std::span<const std::byte> message, verbs_sysfs_dev &device);

/// An answer to RDMA_NLDEV_CMD_GET_CHARDEV for the client "uverbs": number and name of the character device,
/// version of the driver's interface; the driver's id where the kernel sends it.
Status parse_character_device(std::span<const std::byte> message, verbs_sysfs_dev &device);

}  // namespace verbs::discovery
