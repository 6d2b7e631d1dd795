// SPDX-License-Identifier: BSD-2-Clause
// RDMA netlink: the kernel's answers about devices.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace sim {

/// Opens a socket that stands for one of NETLINK_RDMA; -1 and errno where the description refuses it.
int netlink_open(int type);

/// Takes the messages in the buffer; the answers can then be received from the socket. Result as of send(2).
ssize_t netlink_send(int fd, const void *buffer, size_t size);

}  // namespace sim
