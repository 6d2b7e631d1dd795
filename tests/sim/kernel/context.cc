// SPDX-License-Identifier: BSD-2-Clause
// Contexts and devices: GET_CONTEXT, QUERY_CONTEXT, QUERY_DEVICE, INFO_HANDLES.
#include <infiniband/verbs.h>

#include <algorithm>

#include "interpose/descriptors.hh"
#include "kernel/driver.hh"
#include "kernel/event.hh"
#include "kernel/methods.hh"
#include "session.hh"

namespace sim {
namespace {

constexpr uint32_t kCoreSupport =
    IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS | IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA;

constexpr Attribute kGetContext[] = {
    {UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, "num_comp_vectors", Kind::kOut, 0, 4, 4, false},
    {UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, "core_support", Kind::kOut, 0, 8, 8, false},
    {UVERBS_ATTR_GET_CONTEXT_FD_ARR, "fd_arr", Kind::kIn, 0, 4, UINT16_MAX, false, Show::kHidden},
};

int get_context(Call &call)
{
    if (call.state().has_context)
        return EINVAL;
    call.state().has_context = 1;
    call.out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, call.device().num_comp_vectors);
    if (call.device().core_support)
        call.out<uint64_t>(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, kCoreSupport);
    driver_context(call);
    return 0;
}

constexpr Field kGetContextRequest[] = {SIM_FIELD(ib_uverbs_get_context, response, Show::kHidden)};
constexpr Field kGetContextResponse[] = {
    SIM_FIELD(ib_uverbs_get_context_resp, async_fd, Show::kFd),
    SIM_FIELD(ib_uverbs_get_context_resp, num_comp_vectors),
};

int get_context_write(Call &call)
{
    if (call.state().has_context)
        return EINVAL;
    uint32_t channel = 0;
    const int fd = open_channel(channel);
    if (fd < 0)
        return -fd;
    Descriptors::get().set_channel(fd, channel, true);
    call.state().has_context = 1;
    set_default_async(call.file(), channel);
    ib_uverbs_get_context_resp response = {};
    response.async_fd = static_cast<uint32_t>(fd);
    response.num_comp_vectors = call.device().num_comp_vectors;
    call.respond(response);
    driver_context(call);
    return 0;
}

constexpr Attribute kQueryContext[] = {
    {UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, "num_comp_vectors", Kind::kOut, 0, 4, 4, false},
    {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, "core_support", Kind::kOut, 0, 8, 8, false},
};

int query_context(Call &call)
{
    if (call.device().driver_id == RDMA_DRIVER_RXE || call.device().driver_id == RDMA_DRIVER_SIW)
        return EOPNOTSUPP;
    call.out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, call.device().num_comp_vectors);
    call.out<uint64_t>(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, kCoreSupport);
    driver_other(call);
    return 0;
}

constexpr Attribute kInfoHandles[] = {
    {UVERBS_ATTR_INFO_OBJECT_ID, "object_id", Kind::kConst},
    {UVERBS_ATTR_INFO_TOTAL_HANDLES, "total_handles", Kind::kOut, 0, 4, 4, false},
    {UVERBS_ATTR_INFO_HANDLES_LIST, "handles_list", Kind::kOut, 0, 4, UINT16_MAX, true, Show::kBytes},
};

int info_handles(Call &call)
{
    const uint64_t kind = call.constant(UVERBS_ATTR_INFO_OBJECT_ID);
    if (kind > UINT16_MAX)
        return EINVAL;
    const ib_uverbs_attr *list = call.attribute(UVERBS_ATTR_INFO_HANDLES_LIST);
    std::vector<uint32_t> handles;
    for (uint32_t handle = 0; handle < call.state().end; ++handle)
        if (const Object *object = call.file().find_any(handle); object != nullptr && object->kind == kind)
            handles.push_back(handle);
    const auto total = static_cast<uint32_t>(handles.size());
    handles.resize(std::min(handles.size(), list->len / sizeof(uint32_t)));
    call.out_bytes(UVERBS_ATTR_INFO_HANDLES_LIST, handles.data(), handles.size() * sizeof(uint32_t));
    call.out(UVERBS_ATTR_INFO_TOTAL_HANDLES, total);
    return 0;
}

constexpr Field kQueryDeviceRequest[] = {SIM_FIELD(ib_uverbs_query_device, response, Show::kHidden)};
constexpr Field kQueryDeviceResponse[] = {
    {"attributes", 0, sizeof(ib_uverbs_query_device_resp), Show::kBytes}};

int query_device(Call &call)
{
    call.respond(call.device().attributes.base);
    return 0;
}

constexpr Field kQueryDeviceExRequest[] = {SIM_FIELD(ib_uverbs_ex_query_device, comp_mask),
                                           SIM_FIELD(ib_uverbs_ex_query_device, reserved, Show::kReserved)};
constexpr Field kQueryDeviceExResponse[] = {
    {"attributes", 0, sizeof(ib_uverbs_query_device_resp), Show::kBytes},
    SIM_FIELD(ib_uverbs_ex_query_device_resp, response_length)};

int query_device_ex(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_query_device>();
    if (request.comp_mask != 0 || request.reserved != 0)
        return EINVAL;
    ib_uverbs_ex_query_device_resp response = call.device().attributes;
    response.response_length = static_cast<uint32_t>(std::min(call.core_out.size, sizeof response));
    call.respond(response);
    driver_other(call);
    return 0;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "DEVICE/GET_CONTEXT", kGetContext, get_context, false,
     false},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, "DEVICE/QUERY_CONTEXT", kQueryContext, query_context},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, "DEVICE/INFO_HANDLES", kInfoHandles, info_handles},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_GET_CONTEXT, "DEVICE/GET_CONTEXT", sizeof(ib_uverbs_get_context),
     sizeof(ib_uverbs_get_context_resp), kGetContextRequest, kGetContextResponse, get_context_write, true,
     false},
    {IB_USER_VERBS_CMD_QUERY_DEVICE, "DEVICE/QUERY", sizeof(ib_uverbs_query_device),
     sizeof(ib_uverbs_query_device_resp), kQueryDeviceRequest, kQueryDeviceResponse, query_device},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, "DEVICE/QUERY_EX",
     sizeof(ib_uverbs_ex_query_device), 0, kQueryDeviceExRequest, kQueryDeviceExResponse, query_device_ex,
     false},
};

}  // namespace

Methods context_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
