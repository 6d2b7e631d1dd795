// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for flow actions.
#include "uverbs/flow_action.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_create_flow_action_esp(ibv_context *ctx, ibv_flow_action_esp_attr *attr,
                                                verbs_flow_action *flow_action, ibv_command_buffer *driver)
{
    verbs::Result<uint32_t> handle = verbs::uverbs::flow_action_create_esp(channel(ctx), *attr, driver);
    if (!handle)
        return creation_error(handle.error());
    flow_action->action.context = ctx;
    flow_action->handle = *handle;
    flow_action->type = IBV_FLOW_ACTION_ESP;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_flow_action_esp);

VERBS_EXPORT int ibv_cmd_modify_flow_action_esp(verbs_flow_action *flow_action,
                                                ibv_flow_action_esp_attr *attr, ibv_command_buffer *driver)
{
    return verbs::uverbs::flow_action_modify_esp(channel(flow_action->action.context), flow_action->handle,
                                                 *attr, driver)
        .error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_modify_flow_action_esp);

VERBS_EXPORT int ibv_cmd_destroy_flow_action(verbs_flow_action *action)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::flow_action_destroy(channel(action->action.context), action->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_flow_action);
