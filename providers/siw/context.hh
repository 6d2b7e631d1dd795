// SPDX-License-Identifier: BSD-2-Clause
// An open siw device.
#pragma once

#include <infiniband/driver.h>

namespace siw {

/// verbs_device_ops.alloc_context.
verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *private_data);

}  // namespace siw
