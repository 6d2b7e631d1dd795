// SPDX-License-Identifier: BSD-2-Clause
// Commands for flow steering.
#include "uverbs/flow.hh"

#include "base/enum_number.hh"
#include "uverbs/flow_spec.hh"
#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kDestroy = {UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY};

}  // namespace

Result<uint32_t> flow_create(Channel &channel, uint32_t qp_handle, const ibv_flow_attr &attr,
                             const DriverData &driver)
{
    Scratch buffer(sizeof(ib_uverbs_create_flow) + attr.num_of_specs * kMaxFlowSpecSize);
    if (buffer.bytes() == nullptr)
        return Status(ENOMEM);

    const std::byte *from = reinterpret_cast<const std::byte *>(&attr + 1);
    std::byte *specs = buffer.bytes() + sizeof(ib_uverbs_create_flow);
    size_t size = 0;
    for (int i = 0; i < attr.num_of_specs; ++i) {
        Result<size_t> written = flow_spec_to_kernel(from, specs + size);
        if (!written)
            return written.status();
        size += *written;
        from += flow_spec_size(from);
    }

    auto &request = *reinterpret_cast<ib_uverbs_create_flow *>(buffer.bytes());
    request.qp_handle = qp_handle;
    request.flow_attr.type = enum_number(attr.type);
    request.flow_attr.size = static_cast<uint16_t>(size);
    request.flow_attr.priority = attr.priority;
    request.flow_attr.num_of_specs = attr.num_of_specs;
    request.flow_attr.port = attr.port;
    request.flow_attr.flags = attr.flags;
    ib_uverbs_create_flow_resp response = {};
    Status status =
        execute(channel, IB_USER_VERBS_EX_CMD_CREATE_FLOW | uint32_t{IB_USER_VERBS_CMD_FLAG_EXTENDED},
                buffer.bytes(), sizeof request + size, &response, sizeof response, false, driver);
    if (!status)
        return status;
    return response.flow_handle;
}

Status flow_destroy(Channel &channel, uint32_t handle)
{
    Status status = object_destroy_by_ioctl(channel, kDestroy, UVERBS_ATTR_DESTROY_FLOW_HANDLE, handle);
    if (channel.offers(kDestroy))
        return status;
    ib_uverbs_destroy_flow request = {.comp_mask = 0, .flow_handle = handle};
    return extended_command(channel, IB_USER_VERBS_EX_CMD_DESTROY_FLOW, request);
}

}  // namespace verbs::uverbs
