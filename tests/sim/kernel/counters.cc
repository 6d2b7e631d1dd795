// SPDX-License-Identifier: BSD-2-Clause
// Counters of flows and completion counters.
#include <vector>

#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/methods.hh"

namespace sim {
namespace {

constexpr Attribute kCreate[] = {
    {UVERBS_ATTR_CREATE_COUNTERS_HANDLE, "counters_handle", Kind::kNew, UVERBS_OBJECT_COUNTERS}};

int create_counters(Call &call)
{
    uint32_t handle = 0;
    if (call.file().add(UVERBS_OBJECT_COUNTERS, handle) == nullptr)
        return ENOMEM;
    call.set_new(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, handle);
    driver_other(call);
    return 0;
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, "counters_handle", Kind::kDestroyed, UVERBS_OBJECT_COUNTERS}};

int destroy_counters(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_COUNTERS, call.handle(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE));
}

constexpr Attribute kRead[] = {
    {UVERBS_ATTR_READ_COUNTERS_HANDLE, "counters_handle", Kind::kObject, UVERBS_OBJECT_COUNTERS},
    {UVERBS_ATTR_READ_COUNTERS_FLAGS, "flags", Kind::kFlags},
    {UVERBS_ATTR_READ_COUNTERS_BUFF, "values", Kind::kOut, 0, 8, UINT16_MAX, true, Show::kBytes},
};

int read_counters(Call &call)
{
    if ((call.in<uint64_t>(UVERBS_ATTR_READ_COUNTERS_FLAGS) &
         ~uint64_t{IB_UVERBS_READ_COUNTERS_PREFER_CACHED}) != 0)
        return EINVAL;
    const ib_uverbs_attr *values = call.attribute(UVERBS_ATTR_READ_COUNTERS_BUFF);
    if (values->len % sizeof(uint64_t) != 0)
        return EINVAL;
    const std::vector<uint64_t> zeros(values->len / sizeof(uint64_t));
    call.out_bytes(UVERBS_ATTR_READ_COUNTERS_BUFF, zeros.data(), values->len);
    return 0;
}

constexpr Attribute kQueryCaps[] = {
    {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, "max_counters", Kind::kOut, 0, 4, 8, false},
    {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, "max_value", Kind::kOut, 0, 8, 8, false},
    {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, "supported_qp_attach_ops", Kind::kOut, 0, 4, 8,
     false},
};

int query_caps(Call &call)
{
    if (call.device().max_counters == 0)
        return EOPNOTSUPP;
    call.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, call.device().max_counters);
    call.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, uint64_t{INT64_MAX});
    call.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, uint64_t{0x3f});
    return 0;
}

constexpr Attribute kCompCreate[] = {
    {UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, "cntr_handle", Kind::kNew, UVERBS_OBJECT_COMP_CNTR}};

int create_comp(Call &call)
{
    uint64_t count = 0;
    for (uint32_t place = 0; place < call.state().end; ++place) {
        const Object *object = call.file().find_any(place);
        count += object != nullptr && object->kind == UVERBS_OBJECT_COMP_CNTR;
    }
    if (call.device().max_counters == 0)
        return EOPNOTSUPP;
    if (count >= call.device().max_counters)
        return ENOMEM;
    uint32_t handle = 0;
    if (call.file().add(UVERBS_OBJECT_COMP_CNTR, handle) == nullptr)
        return ENOMEM;
    call.set_new(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, handle);
    driver_other(call);
    return 0;
}

constexpr Attribute kCompDestroy[] = {
    {UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, "cntr_handle", Kind::kDestroyed, UVERBS_OBJECT_COMP_CNTR}};

int destroy_comp(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_COMP_CNTR, call.handle(UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE));
}

constexpr Attribute kCompModify[] = {
    {UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, "cntr_handle", Kind::kObject, UVERBS_OBJECT_COMP_CNTR},
    {UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, "entry", Kind::kConst},
    {UVERBS_ATTR_MODIFY_COMP_CNTR_OP, "op", Kind::kConst},
    {UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, "value", Kind::kIn, 0, 8, 8},
};

int modify_comp(Call &call)
{
    const uint64_t entry = call.constant(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY);
    const uint64_t op = call.constant(UVERBS_ATTR_MODIFY_COMP_CNTR_OP);
    const auto value = call.in<uint64_t>(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE);
    if (entry > IB_UVERBS_COMP_CNTR_ENTRY_ERR || op > IB_UVERBS_COMP_CNTR_MODIFY_OP_INC)
        return EINVAL;
    Object *counter = call.find(UVERBS_OBJECT_COMP_CNTR, call.handle(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE));
    counter->values[entry] = op == IB_UVERBS_COMP_CNTR_MODIFY_OP_SET ? value : counter->values[entry] + value;
    return 0;
}

constexpr Attribute kCompRead[] = {
    {UVERBS_ATTR_READ_COMP_CNTR_HANDLE, "cntr_handle", Kind::kObject, UVERBS_OBJECT_COMP_CNTR},
    {UVERBS_ATTR_READ_COMP_CNTR_ENTRY, "entry", Kind::kConst},
    {UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, "value", Kind::kOut, 0, 8, 8},
};

int read_comp(Call &call)
{
    const uint64_t entry = call.constant(UVERBS_ATTR_READ_COMP_CNTR_ENTRY);
    if (entry > IB_UVERBS_COMP_CNTR_ENTRY_ERR)
        return EINVAL;
    const Object *counter =
        call.find(UVERBS_OBJECT_COMP_CNTR, call.handle(UVERBS_ATTR_READ_COMP_CNTR_HANDLE));
    call.out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, counter->values[entry]);
    return 0;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, "COUNTERS/CREATE", kCreate, create_counters,
     true},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, "COUNTERS/DESTROY", kDestroy, destroy_counters,
     true},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, "COUNTERS/READ", kRead, read_counters, true},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS, "COMP_CNTR/QUERY_CAPS", kQueryCaps,
     query_caps},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE, "COMP_CNTR/CREATE", kCompCreate, create_comp},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY, "COMP_CNTR/DESTROY", kCompDestroy,
     destroy_comp},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY, "COMP_CNTR/MODIFY", kCompModify, modify_comp},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ, "COMP_CNTR/READ", kCompRead, read_comp},
};

}  // namespace

Methods counters_methods()
{
    return {kIoctl, {}};
}

}  // namespace sim
