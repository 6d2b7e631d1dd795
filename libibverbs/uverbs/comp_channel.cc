// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion channels.
#include "uverbs/comp_channel.hh"

#include "uverbs/write_command.hh"

namespace verbs::uverbs {

Result<UniqueFd> comp_channel_create(Channel &channel)
{
    ib_uverbs_create_comp_channel request = {};
    ib_uverbs_create_comp_channel_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, request, response);
    if (!status)
        return status;
    return UniqueFd(static_cast<int>(response.fd));
}

}  // namespace verbs::uverbs
