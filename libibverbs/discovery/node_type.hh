// SPDX-License-Identifier: BSD-2-Clause
// Types of nodes as the kernel numbers them.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

namespace verbs::discovery {

/// The kernel's number of a node type as verbs have it; IBV_NODE_UNKNOWN for those they do not know.
inline ibv_node_type node_type_of(uint64_t number)
{
    return number >= IBV_NODE_CA && number <= IBV_NODE_UNSPECIFIED ? static_cast<ibv_node_type>(number)
                                                                   : IBV_NODE_UNKNOWN;
}

}  // namespace verbs::discovery
