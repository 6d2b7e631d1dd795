// SPDX-License-Identifier: BSD-2-Clause
// Whether an entry of a GID table can be a source address.
#pragma once

#include "kernel/command.hh"

namespace sim {

/// EINVAL: beyond the table of the port, which exists. ENODATA: the entry is empty.
inline int check_gid_index(Call &call, uint32_t port, uint32_t index)
{
    const Port &described = call.device().ports[port - 1];
    if (index >= described.attributes.legacy_resp.gid_tbl_len)
        return EINVAL;
    for (const Gid &gid : described.gids)
        if (gid.index == index)
            return 0;
    return ENODATA;
}

}  // namespace sim
