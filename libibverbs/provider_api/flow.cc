// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for flow steering.
#include "uverbs/flow.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_create_flow(ibv_qp *qp, ibv_flow *flow_id, ibv_flow_attr *flow_attr, void *ucmd,
                                     size_t ucmd_size)
{
    verbs::Result<uint32_t> handle = verbs::uverbs::flow_create(channel(qp->context), qp->handle, *flow_attr,
                                                                {.in = ucmd, .in_size = ucmd_size});
    if (!handle)
        return creation_error(handle.error());
    flow_id->context = qp->context;
    flow_id->handle = *handle;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_flow);

VERBS_EXPORT int ibv_cmd_destroy_flow(ibv_flow *flow_id)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::flow_destroy(channel(flow_id->context), flow_id->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_flow);
