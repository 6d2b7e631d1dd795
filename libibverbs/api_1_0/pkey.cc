// SPDX-License-Identifier: BSD-2-Clause
// P_Key tables, for programs of 2006.
#include "api_1_0/verbs.hh"

VERBS_EXPORT_1_0(ibv_query_pkey)
int ibv_query_pkey_1_0(ibv_context_1_0 *context, uint8_t port_num, int index, __be16 *pkey)
{
    return ibv_query_pkey(context->real_context, port_num, index, pkey);
}
