// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups, for programs of 2006.
#include "api_1_0/verbs.hh"

VERBS_EXPORT_1_0(ibv_attach_mcast) int ibv_attach_mcast_1_0(ibv_qp_1_0 *qp, ibv_gid *gid, uint16_t lid)
{
    return ibv_attach_mcast(qp->real_qp, gid, lid);
}

VERBS_EXPORT_1_0(ibv_detach_mcast) int ibv_detach_mcast_1_0(ibv_qp_1_0 *qp, ibv_gid *gid, uint16_t lid)
{
    return ibv_detach_mcast(qp->real_qp, gid, lid);
}
