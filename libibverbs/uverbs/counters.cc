// SPDX-License-Identifier: BSD-2-Clause
// Commands for counters.
#include "uverbs/counters.hh"

namespace verbs::uverbs {

Result<uint32_t> counters_create(Channel &channel, ibv_command_buffer *driver)
{
    Attributes<1> attributes({UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE});
    Status status = attributes.new_object(UVERBS_ATTR_CREATE_COUNTERS_HANDLE).issue(channel, driver);
    if (!status)
        return status;
    return attributes.result();
}

Status counters_read(Channel &channel, uint32_t handle, std::span<uint64_t> values, uint32_t flags,
                     ibv_command_buffer *driver)
{
    if (values.size_bytes() > UINT16_MAX)
        return EINVAL;  // the kernel counts the bytes of an attribute in 16 bits
    return Attributes<3>({UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ})
        .object(UVERBS_ATTR_READ_COUNTERS_HANDLE, handle)
        .out_bytes(UVERBS_ATTR_READ_COUNTERS_BUFF, values.data(), values.size_bytes())
        .in(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags)
        .issue(channel, driver);
}

Status counters_destroy(Channel &channel, uint32_t handle)
{
    return Attributes<1>({UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY})
        .object(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, handle)
        .issue(channel);
}

}  // namespace verbs::uverbs
