// SPDX-License-Identifier: BSD-2-Clause
// Commands for flow actions.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

// ioctl only: EPROTONOSUPPORT or ENOTTY on kernels that do not know the method.

/// Makes an IPsec ESP action of what `attr` has (parts of length 0 are left out); its kernel handle.
Result<uint32_t> flow_action_create_esp(Channel &channel, const ibv_flow_action_esp_attr &attr,
                                        ibv_command_buffer *driver);

/// Changes what `attr` has.
Status flow_action_modify_esp(Channel &channel, uint32_t handle, const ibv_flow_action_esp_attr &attr,
                              ibv_command_buffer *driver);
Status flow_action_destroy(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
