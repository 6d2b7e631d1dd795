// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion channels.
#pragma once

#include "base/result.hh"
#include "base/unique_fd.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

/// Makes a completion channel: the file that completion events are read from. Closing it destroys the channel.
Result<UniqueFd> comp_channel_create(Channel &channel);

}  // namespace verbs::uverbs
