// SPDX-License-Identifier: BSD-2-Clause
// Asking an open device what it can do, for programs of 2006.
#include "api_1_0/verbs.hh"

VERBS_EXPORT_1_0(ibv_query_device)
int ibv_query_device_1_0(ibv_context_1_0 *context, ibv_device_attr *device_attr)
{
    return ibv_query_device(context->real_context, device_attr);
}
