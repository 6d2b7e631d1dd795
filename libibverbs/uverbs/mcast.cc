// SPDX-License-Identifier: BSD-2-Clause
// Commands for multicast groups.
#include "uverbs/mcast.hh"

#include <cstring>

#include "uverbs/write_command.hh"

namespace verbs::uverbs {
namespace {

template <class Request>
Status change_membership(Channel &channel, ib_uverbs_write_cmds command, uint32_t qp_handle,
                         const ibv_gid &gid, uint16_t lid)
{
    Request request = {};
    std::memcpy(request.gid, gid.raw, sizeof request.gid);
    request.qp_handle = qp_handle;
    request.mlid = lid;
    return write_command(channel, command, request);
}

}  // namespace

Status mcast_attach(Channel &channel, uint32_t qp_handle, const ibv_gid &gid, uint16_t lid)
{
    return change_membership<ib_uverbs_attach_mcast>(channel, IB_USER_VERBS_CMD_ATTACH_MCAST, qp_handle, gid,
                                                     lid);
}

Status mcast_detach(Channel &channel, uint32_t qp_handle, const ibv_gid &gid, uint16_t lid)
{
    return change_membership<ib_uverbs_detach_mcast>(channel, IB_USER_VERBS_CMD_DETACH_MCAST, qp_handle, gid,
                                                     lid);
}

}  // namespace verbs::uverbs
