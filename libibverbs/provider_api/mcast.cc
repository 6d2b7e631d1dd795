// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for multicast groups.
#include "uverbs/mcast.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::channel;

VERBS_EXPORT int ibv_cmd_attach_mcast(ibv_qp *qp, const ibv_gid *gid, uint16_t lid)
{
    return verbs::uverbs::mcast_attach(channel(qp->context), qp->handle, *gid, lid).error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_attach_mcast);

VERBS_EXPORT int ibv_cmd_detach_mcast(ibv_qp *qp, const ibv_gid *gid, uint16_t lid)
{
    return verbs::uverbs::mcast_detach(channel(qp->context), qp->handle, *gid, lid).error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_detach_mcast);
