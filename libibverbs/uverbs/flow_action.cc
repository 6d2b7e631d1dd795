// SPDX-License-Identifier: BSD-2-Clause
// Commands for flow actions.
#include "uverbs/flow_action.hh"

namespace verbs::uverbs {
namespace {

constexpr size_t kMaxParts = 5;

/// Adds the parts that `attr` has; the attributes of both methods are the same but for the handle.
template <size_t kCapacity>
Status add_parts(Attributes<kCapacity> &attributes, const ibv_flow_action_esp_attr &attr)
{
    static_assert(kCapacity >= kMaxParts + 1);
    bool has_keymat = attr.keymat_len != 0;
    bool has_replay = attr.replay_len != 0;
    if ((has_keymat && attr.keymat_ptr == nullptr) || (has_replay && attr.replay_ptr == nullptr))
        return EINVAL;
    if ((attr.comp_mask & IBV_FLOW_ACTION_ESP_MASK_ESN) != 0)
        attributes.in(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, attr.esn);
    if (has_keymat)
        attributes.enum_in(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT, static_cast<uint8_t>(attr.keymat_proto),
                           attr.keymat_ptr, attr.keymat_len);
    if (has_replay)
        attributes.enum_in(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY, static_cast<uint8_t>(attr.replay_proto),
                           attr.replay_ptr, attr.replay_len);
    if (attr.esp_encap != nullptr)
        attributes.in_bytes(UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, attr.esp_encap,
                            sizeof(ib_uverbs_flow_action_esp_encap));
    if (attr.esp_attr != nullptr)
        attributes.in_bytes(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, attr.esp_attr,
                            sizeof(ib_uverbs_flow_action_esp));
    return {};
}

}  // namespace

Result<uint32_t> flow_action_create_esp(Channel &channel, const ibv_flow_action_esp_attr &attr,
                                        ibv_command_buffer *driver)
{
    Attributes<kMaxParts + 1> attributes({UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE});
    attributes.new_object(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE);
    Status status = add_parts(attributes, attr);
    if (status)
        status = attributes.issue(channel, driver);
    if (!status)
        return status;
    return attributes.result();
}

Status flow_action_modify_esp(Channel &channel, uint32_t handle, const ibv_flow_action_esp_attr &attr,
                              ibv_command_buffer *driver)
{
    Attributes<kMaxParts + 1> attributes({UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY});
    attributes.object(UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, handle);
    if (Status status = add_parts(attributes, attr); !status)
        return status;
    return attributes.issue(channel, driver);
}

Status flow_action_destroy(Channel &channel, uint32_t handle)
{
    return Attributes<1>({UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY})
        .object(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, handle)
        .issue(channel);
}

}  // namespace verbs::uverbs
