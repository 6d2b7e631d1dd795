// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT int ibv_attach_mcast(ibv_qp *qp, const ibv_gid *gid, uint16_t lid)
{
    return ops(qp->context).attach_mcast(qp, gid, lid);
}

VERBS_EXPORT int ibv_detach_mcast(ibv_qp *qp, const ibv_gid *gid, uint16_t lid)
{
    return ops(qp->context).detach_mcast(qp, gid, lid);
}
