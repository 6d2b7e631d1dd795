// SPDX-License-Identifier: BSD-2-Clause
// Asking about a port, for programs of 2006.
#include "api_1_0/verbs.hh"

#undef ibv_query_port  // the exported verb, which knows that the structure had 48 bytes

VERBS_EXPORT_1_0(ibv_query_port)
int ibv_query_port_1_0(ibv_context_1_0 *context, uint8_t port_num, ibv_port_attr *port_attr)
{
    return ibv_query_port(context->real_context, port_num,
                          reinterpret_cast<_compat_ibv_port_attr *>(port_attr));
}
