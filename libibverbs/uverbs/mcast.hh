// SPDX-License-Identifier: BSD-2-Clause
// Commands for multicast groups.
#pragma once

#include <infiniband/verbs.h>

#include "base/result.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

Status mcast_attach(Channel &channel, uint32_t qp_handle, const ibv_gid &gid, uint16_t lid);
Status mcast_detach(Channel &channel, uint32_t qp_handle, const ibv_gid &gid, uint16_t lid);

}  // namespace verbs::uverbs
