// SPDX-License-Identifier: BSD-2-Clause
// ioctl commands that drivers put together, alone or as an addition to a command of the library.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>

#include "base/result.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

/// The number of attributes in all buffers of `chain`, which may be null.
size_t attribute_count(const ibv_command_buffer *chain);

/// Issues `header` with its own attributes and behind them those of `chain` (null for none). What the kernel writes
/// into attributes, handles of new objects and UVERBS_ATTR_F_VALID_OUTPUT, is then where each attribute came from.
/// That the kernel does not know an attribute of the driver (EPROTONOSUPPORT) is not taken to mean that it does not
/// know the method. EINVAL: a buffer holds an error, or there are more attributes than an ioctl can carry.
Status issue_with(Channel &channel, ib_uverbs_ioctl_hdr &header, ibv_command_buffer *chain);

/// Issues the command that the first buffer of `chain` names.
Status issue(Channel &channel, ibv_command_buffer &chain);

}  // namespace verbs::uverbs
