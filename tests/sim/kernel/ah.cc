// SPDX-License-Identifier: BSD-2-Clause
// Address handles.
#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/gid.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"

namespace sim {
namespace {

constexpr Field kCreateRequest[] = {
    SIM_FIELD(ib_uverbs_create_ah, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_create_ah, user_handle),
    SIM_FIELD(ib_uverbs_create_ah, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_ah, attr.grh.dgid, Show::kBytes),
    SIM_FIELD(ib_uverbs_create_ah, attr.grh.flow_label),
    SIM_FIELD(ib_uverbs_create_ah, attr.grh.sgid_index),
    SIM_FIELD(ib_uverbs_create_ah, attr.grh.hop_limit),
    SIM_FIELD(ib_uverbs_create_ah, attr.grh.traffic_class),
    SIM_FIELD(ib_uverbs_create_ah, attr.dlid),
    SIM_FIELD(ib_uverbs_create_ah, attr.sl),
    SIM_FIELD(ib_uverbs_create_ah, attr.src_path_bits),
    SIM_FIELD(ib_uverbs_create_ah, attr.static_rate),
    SIM_FIELD(ib_uverbs_create_ah, attr.is_global),
    SIM_FIELD(ib_uverbs_create_ah, attr.port_num),
    SIM_FIELD(ib_uverbs_create_ah, reserved, Show::kReserved),
};
constexpr Field kCreateResponse[] = {SIM_FIELD(ib_uverbs_create_ah_resp, ah_handle, Show::kHandle)};

int create_ah(Call &call)
{
    const auto request = call.request<ib_uverbs_create_ah>();
    const std::vector<Port> &ports = call.device().ports;
    const ib_uverbs_ah_attr &attr = request.attr;
    if (attr.port_num < 1 || attr.port_num > ports.size())
        return EINVAL;
    if (call.find(UVERBS_OBJECT_PD, request.pd_handle) == nullptr)
        return call.error();
    const ib_uverbs_query_port_resp &port = ports[attr.port_num - 1u].attributes.legacy_resp;
    if (attr.is_global == 0 && (port.flags & IB_UVERBS_QPF_GRH_REQUIRED) != 0)
        return EINVAL;
    if (attr.is_global != 0)
        if (const int error = check_gid_index(call, attr.port_num, attr.grh.sgid_index))
            return error;
    ib_uverbs_create_ah_resp response = {};
    Object *ah = call.file().add(UVERBS_OBJECT_AH, response.ah_handle);
    if (ah == nullptr)
        return ENOMEM;
    call.file().hold(*ah, kPdPlace, request.pd_handle);
    ah->user_handle = request.user_handle;
    call.respond(response);
    driver_ah(call, *ah);
    return 0;
}

constexpr Field kDestroyRequest[] = {SIM_FIELD(ib_uverbs_destroy_ah, ah_handle, Show::kHandle)};

int destroy_ah_write(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_AH, call.request<ib_uverbs_destroy_ah>().ah_handle);
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_AH_HANDLE, "ah_handle", Kind::kDestroyed, UVERBS_OBJECT_AH}};

int destroy_ah(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_AH, call.handle(UVERBS_ATTR_DESTROY_AH_HANDLE));
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "AH/DESTROY", kDestroy, destroy_ah}};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_CREATE_AH, "AH/CREATE", sizeof(ib_uverbs_create_ah), sizeof(ib_uverbs_create_ah_resp),
     kCreateRequest, kCreateResponse, create_ah},
    {IB_USER_VERBS_CMD_DESTROY_AH,
     "AH/DESTROY",
     sizeof(ib_uverbs_destroy_ah),
     0,
     kDestroyRequest,
     {},
     destroy_ah_write,
     false},
};

}  // namespace

Methods ah_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
