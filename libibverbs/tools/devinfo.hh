// SPDX-License-Identifier: BSD-2-Clause
// The parts of ibv_devinfo that print a device and its ports.
#pragma once

#include <infiniband/verbs.h>

namespace tools {

// What a device is: always printed, and first.
void print_device(const ibv_device &device, const ibv_device_attr &attr);

// All that it can do.
void print_device_details(const ibv_context &context, const ibv_device_attr_ex &attr);

// Prints a port. Returns 0, or the result of the call that failed, after saying so on stderr.
int show_port(ibv_context *context, uint8_t port_num, bool verbose);

}  // namespace tools
