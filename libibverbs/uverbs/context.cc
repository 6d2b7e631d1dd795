// SPDX-License-Identifier: BSD-2-Clause
// Commands that concern a whole context.
#include "uverbs/context.hh"

#include <algorithm>
#include <utility>

#include "uverbs/write_command.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kGetContext = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT};
constexpr Method kAsyncEventAlloc = {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC};
constexpr Method kQueryPort = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT};
constexpr Method kQueryGidEntry = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY};
constexpr Method kQueryGidTable = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE};

Status get_by_ioctl(Channel &channel, const DriverData &driver, std::span<const int> files, ContextInfo &info)
{
    Attributes<5> get(kGetContext);
    get.out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, info.num_comp_vectors)
        .out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, info.core_support)
        .driver(driver);
    if (!files.empty())
        get.in_bytes(UVERBS_ATTR_GET_CONTEXT_FD_ARR, files.data(), files.size_bytes());
    Status status = get.issue(channel);
    if (!status)
        return status;
    Result<UniqueFd> events = async_events_open(channel);
    if (!events)
        return events.status();
    info.async_fd = std::move(*events);
    return {};
}

Status get_by_write(Channel &channel, const DriverData &driver, ContextInfo &info)
{
    ib_uverbs_get_context request = {};
    ib_uverbs_get_context_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_GET_CONTEXT, request, response, driver);
    if (!status)
        return status;
    info.async_fd.reset(static_cast<int>(response.async_fd));
    info.num_comp_vectors = response.num_comp_vectors;
    return {};
}

}  // namespace

Result<ContextInfo> context_get(Channel &channel, const DriverData &driver, std::span<const int> files)
{
    ContextInfo info;
    Status status = get_by_ioctl(channel, driver, files, info);
    if (!channel.offers(kGetContext))
        status = !files.empty() ? Status(EOPNOTSUPP) : get_by_write(channel, driver, info);
    if (!status)
        return status;
    return info;
}

Result<UniqueFd> async_events_open(Channel &channel)
{
    Attributes<1> alloc(kAsyncEventAlloc);
    if (Status status = alloc.new_object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE).issue(channel); !status)
        return status;
    return UniqueFd(static_cast<int>(alloc.result()));
}

Result<ContextDescription> context_query(Channel &channel, ibv_command_buffer *driver)
{
    ContextDescription context;
    Status status = Attributes<2>({UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT})
                        .out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, context.num_comp_vectors)
                        .out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, context.core_support)
                        .issue(channel, driver);
    if (!status)
        return status;
    return context;
}

Status device_query(Channel &channel, ib_uverbs_query_device_resp &response)
{
    ib_uverbs_query_device request = {};
    return write_command(channel, IB_USER_VERBS_CMD_QUERY_DEVICE, request, response);
}

Status device_query_ex(Channel &channel, ib_uverbs_ex_query_device_resp &response, const DriverData &driver)
{
    ib_uverbs_ex_query_device request = {};
    return extended_command(channel, IB_USER_VERBS_EX_CMD_QUERY_DEVICE, request, response, driver);
}

Status port_query(Channel &channel, uint8_t port_num, ib_uverbs_query_port_resp_ex &response,
                  const DriverData &driver)
{
    response = {};
    if (channel.offers(kQueryPort)) {
        Status status = Attributes<4>(kQueryPort)
                            .constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port_num)
                            .out(UVERBS_ATTR_QUERY_PORT_RESP, response)
                            .driver(driver)
                            .issue(channel);
        if (channel.offers(kQueryPort))
            return status;
    }
    ib_uverbs_query_port request = {};
    request.port_num = port_num;
    return write_command(channel, IB_USER_VERBS_CMD_QUERY_PORT, request, response.legacy_resp, driver);
}

Result<uint64_t> port_speed_query(Channel &channel, uint32_t port_num)
{
    uint64_t speed = 0;
    Status status = Attributes<2>({UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED})
                        .constant(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, port_num)
                        .out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, speed)
                        .issue(channel);
    if (!status)
        return status;
    return speed;
}

Status gid_query(Channel &channel, uint32_t port_num, uint32_t index, uint32_t flags,
                 ib_uverbs_gid_entry &entry)
{
    if (!channel.offers(kQueryGidEntry))
        return EPROTONOSUPPORT;
    entry = {};
    return Attributes<4>(kQueryGidEntry)
        .constant(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port_num)
        .constant(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index)
        .in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags)
        .out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry)
        .issue(channel);
}

Result<size_t> gid_table_query(Channel &channel, uint32_t flags, ib_uverbs_gid_entry *entries,
                               size_t capacity)
{
    if (!channel.offers(kQueryGidTable))
        return Status(EPROTONOSUPPORT);
    // Room for more than one command can tell of is room all the same.
    capacity = std::min(capacity, UINT16_MAX / sizeof *entries);
    uint64_t count = 0;
    Status status =
        Attributes<4>(kQueryGidTable)
            .constant(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof *entries)
            .in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags)
            .out_bytes(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, capacity * sizeof *entries)
            .out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count)
            .issue(channel);
    if (!status)
        return status;
    return static_cast<size_t>(count);
}

}  // namespace verbs::uverbs
