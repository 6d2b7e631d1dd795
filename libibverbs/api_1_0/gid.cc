// SPDX-License-Identifier: BSD-2-Clause
// GID tables, for programs of 2006.
#include "api_1_0/verbs.hh"

VERBS_EXPORT_1_0(ibv_query_gid)
int ibv_query_gid_1_0(ibv_context_1_0 *context, uint8_t port_num, int index, ibv_gid *gid)
{
    return ibv_query_gid(context->real_context, port_num, index, gid);
}
