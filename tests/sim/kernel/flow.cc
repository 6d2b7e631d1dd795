// SPDX-License-Identifier: BSD-2-Clause
// Flow steering rules and flow actions.
#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"

namespace sim {
namespace {

constexpr Field kCreateRequest[] = {
    SIM_FIELD(ib_uverbs_create_flow, qp_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_flow, comp_mask, Show::kReserved),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.type),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.size),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.priority),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.num_of_specs),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.port),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.flags),
    SIM_FIELD(ib_uverbs_create_flow, flow_attr.reserved, Show::kReserved),
    {"specs", sizeof(ib_uverbs_create_flow), 0, Show::kBytes},
};
constexpr Field kCreateResponse[] = {SIM_FIELD(ib_uverbs_create_flow_resp, flow_handle, Show::kHandle)};

constexpr uint32_t kSpecAction = 0x1000;  // IBV_FLOW_SPEC_ACTION_TAG and those behind it
constexpr uint32_t kSpecActionHandle = 0x1002;
constexpr uint32_t kSpecActionCount = 0x1003;
constexpr uint8_t kMostSpecs = 10;

/// Specifications fill exactly what was announced, and name objects that exist.
int check_specs(Call &call, const ib_uverbs_flow_attr &attr, const std::byte *specs)
{
    size_t rest = attr.size;
    for (uint8_t i = 0; i < attr.num_of_specs; ++i) {
        ib_uverbs_flow_spec_hdr spec{};
        if (rest < sizeof spec)
            return EINVAL;
        memcpy(&spec, specs, sizeof spec);
        if (spec.size < sizeof spec || spec.size > rest || spec.reserved != 0)
            return EINVAL;
        if (spec.type == kSpecActionHandle || spec.type == kSpecActionCount) {
            ib_uverbs_flow_spec_action_handle action{};
            if (spec.size != sizeof action)
                return EINVAL;
            memcpy(&action, specs, sizeof action);
            const uint16_t kind =
                spec.type == kSpecActionHandle ? UVERBS_OBJECT_FLOW_ACTION : UVERBS_OBJECT_COUNTERS;
            if (call.find(kind, action.handle) == nullptr)
                return call.error();
        } else if (spec.type < kSpecAction && (spec.size - sizeof spec) % 2 != 0) {
            return EINVAL;
        }
        specs += spec.size;
        rest -= spec.size;
    }
    return rest == 0 ? 0 : EINVAL;
}

int create_flow(Call &call)
{
    const auto request = call.request<ib_uverbs_create_flow>();
    const ib_uverbs_flow_attr &attr = request.flow_attr;
    if (request.comp_mask != 0)
        return EINVAL;
    if (attr.num_of_specs > kMostSpecs || attr.reserved[0] != 0 || attr.reserved[1] != 0)
        return EINVAL;
    if (attr.size > call.core_in.size - sizeof request ||
        attr.size > attr.num_of_specs * (sizeof(ib_uverbs_flow_spec_ipv6) + sizeof(ib_uverbs_flow_spec_hdr)))
        return EINVAL;
    if ((call.device().attributes.base.device_cap_flags & IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING) == 0)
        return EOPNOTSUPP;
    const Object *qp = call.find(UVERBS_OBJECT_QP, request.qp_handle);
    if (qp == nullptr)
        return call.error();
    if (qp->type != IB_UVERBS_QPT_UD && qp->type != IB_UVERBS_QPT_RAW_PACKET)
        return EINVAL;
    if (const int error = check_specs(call, attr, call.core_in.bytes + sizeof request))
        return error;
    ib_uverbs_create_flow_resp response = {};
    Object *flow = call.file().add(UVERBS_OBJECT_FLOW, response.flow_handle);
    if (flow == nullptr)
        return ENOMEM;
    call.file().hold(*flow, kOtherPlace, request.qp_handle);
    call.respond(response);
    driver_other(call);
    return 0;
}

constexpr Field kDestroyRequest[] = {SIM_FIELD(ib_uverbs_destroy_flow, flow_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_destroy_flow, comp_mask, Show::kReserved)};

int destroy_flow_write(Call &call)
{
    const auto request = call.request<ib_uverbs_destroy_flow>();
    if (request.comp_mask != 0)
        return EINVAL;
    return destroy_object(call, UVERBS_OBJECT_FLOW, request.flow_handle);
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_FLOW_HANDLE, "flow_handle", Kind::kDestroyed, UVERBS_OBJECT_FLOW}};

int destroy_flow(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_FLOW, call.handle(UVERBS_ATTR_DESTROY_FLOW_HANDLE));
}

#define ESP_ATTRIBUTES(needs_all)                                                                          \
    {UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS,                                                                    \
     "attrs",                                                                                              \
     Kind::kIn,                                                                                            \
     0,                                                                                                    \
     offsetof(ib_uverbs_flow_action_esp, hard_limit_pkts),                                                 \
     sizeof(ib_uverbs_flow_action_esp),                                                                    \
     needs_all,                                                                                            \
     Show::kBytes},                                                                                        \
        {UVERBS_ATTR_FLOW_ACTION_ESP_ESN, "esn", Kind::kIn, 0, 4, 4, false},                               \
        {UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT,                                                               \
         "keymat",                                                                                         \
         Kind::kEnum,                                                                                      \
         0,                                                                                                \
         0,                                                                                                \
         sizeof(ib_uverbs_flow_action_esp_keymat_aes_gcm),                                                 \
         needs_all},                                                                                       \
        {UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY,           "replay", Kind::kEnum, 0, 0,                        \
         sizeof(ib_uverbs_flow_action_esp_replay_bmp), false},                                             \
    {                                                                                                      \
        UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, "encap", Kind::kIn, 0, sizeof(ib_uverbs_flow_action_esp_encap), \
            sizeof(ib_uverbs_flow_action_esp_encap), false, Show::kBytes                                   \
    }

constexpr Attribute kEspCreate[] = {
    {UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, "action_handle", Kind::kNew, UVERBS_OBJECT_FLOW_ACTION},
    ESP_ATTRIBUTES(true)};
constexpr Attribute kEspModify[] = {
    {UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, "action_handle", Kind::kObject, UVERBS_OBJECT_FLOW_ACTION},
    ESP_ATTRIBUTES(false)};

int check_esp(Call &call)
{
    const auto esp = call.in<ib_uverbs_flow_action_esp>(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS);
    if (esp.flags > 0xf)
        return EOPNOTSUPP;
    const bool has_window = (esp.flags & IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW) != 0;
    if (has_window && !call.has(UVERBS_ATTR_FLOW_ACTION_ESP_ESN))
        return EINVAL;
    if (const ib_uverbs_attr *keymat = call.attribute(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT)) {
        if (keymat->attr_data.enum_data.elem_id != IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM)
            return EOPNOTSUPP;
        const auto key =
            call.in<ib_uverbs_flow_action_esp_keymat_aes_gcm>(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT);
        if (key.iv_algo != IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ ||
            (key.key_len != 16 && key.key_len != 24 && key.key_len != 32))
            return EINVAL;
    }
    if (const ib_uverbs_attr *replay = call.attribute(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY))
        if (replay->attr_data.enum_data.elem_id > IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP)
            return EOPNOTSUPP;
    return 0;
}

int create_esp(Call &call)
{
    if (const int error = check_esp(call))
        return error;
    uint32_t handle = 0;
    if (call.file().add(UVERBS_OBJECT_FLOW_ACTION, handle) == nullptr)
        return ENOMEM;
    call.set_new(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, handle);
    driver_other(call);
    return 0;
}

int modify_esp(Call &call)
{
    return check_esp(call);
}

constexpr Attribute kDestroyAction[] = {
    {UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, "action_handle", Kind::kDestroyed, UVERBS_OBJECT_FLOW_ACTION}};

int destroy_action(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_FLOW_ACTION,
                          call.handle(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE));
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, "FLOW/DESTROY", kDestroy, destroy_flow},
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE, "FLOW_ACTION/ESP_CREATE", kEspCreate,
     create_esp, true},
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY, "FLOW_ACTION/ESP_MODIFY", kEspModify,
     modify_esp, true},
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY, "FLOW_ACTION/DESTROY", kDestroyAction,
     destroy_action, true},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, "FLOW/CREATE",
     sizeof(ib_uverbs_create_flow), sizeof(ib_uverbs_create_flow_resp), kCreateRequest, kCreateResponse,
     create_flow, false},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
     "FLOW/DESTROY",
     sizeof(ib_uverbs_destroy_flow),
     0,
     kDestroyRequest,
     {},
     destroy_flow_write,
     false},
};

}  // namespace

Methods flow_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
