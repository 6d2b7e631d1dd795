// SPDX-License-Identifier: BSD-2-Clause
// Commands that have the form of the write interface, issued through the ioctl that invokes them or through write(2).
#pragma once

#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/result.hh"
#include "uverbs/attributes.hh"
#include "uverbs/channel.hh"
#include "uverbs/scratch.hh"

namespace verbs::uverbs {

/// A command of enum ib_uverbs_write_cmds with its fixed request and answer (not counting the driver's parts).
struct WriteCommand {
    uint32_t
        command;    ///< IB_USER_VERBS_CMD_*, with IB_USER_VERBS_CMD_FLAG_EXTENDED for IB_USER_VERBS_EX_CMD_*
    void *request;  ///< starts with the address of the answer where has_response_address
    size_t request_size;
    void *response;  ///< null where the command has no answer
    size_t response_size;
    bool has_response_address;
};

/// Issues the command through write(2).
Status execute_by_write(Channel &channel, const WriteCommand &command, const DriverData &driver);

/// Issues the command through write first, which costs the kernel less than an ioctl. Kernels refuse write to a process
/// whose credentials changed since it opened the device (EACCES): then through the ioctl.
Status execute_on_data_path(Channel &channel, const WriteCommand &command);

/// The second half of that, for who has issued the command through write with this result: a result that is no refusal is
/// the command's.
Status execute_instead_of_write(Channel &channel, Status status, const WriteCommand &command);

inline constexpr Method kInvokeWrite = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE};

/// The ioctl that invokes a write command. Most control verbs are one of these: all that is known about a command when it
/// is compiled is in the constructor, which is inline.
class Invocation {
public:
    [[gnu::always_inline]] Invocation(uint32_t command, const void *request, size_t request_size,
                                      void *response, size_t response_size)
    {
        header() = {.object_id = kInvokeWrite.object,
                    .method_id = kInvokeWrite.id,
                    .num_attrs = static_cast<uint16_t>(response_size != 0 ? 3 : 2)};
        set(header().attrs[0], UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), command);
        set(header().attrs[1], UVERBS_ATTR_CORE_IN, request_size, in_attribute(request, request_size));
        if (response_size != 0)
            set(header().attrs[2], UVERBS_ATTR_CORE_OUT, response_size,
                reinterpret_cast<uintptr_t>(response));
    }

    /// With the driver's parts. EINVAL: one is longer than a command can have. Most commands have none: those that are
    /// known not to when they are compiled cost no question.
    [[gnu::always_inline]] Status issue(Channel &channel, const DriverData &driver)
    {
        return (driver.in_size | driver.out_size) == 0 ? issue_alone(channel) : issue_with(channel, driver);
    }

private:
    ib_uverbs_ioctl_hdr &header() { return *reinterpret_cast<ib_uverbs_ioctl_hdr *>(storage_); }

    [[gnu::always_inline]] static void set(ib_uverbs_attr &attribute, uint16_t id, size_t size, uint64_t data)
    {
        attribute = {.attr_id = id,
                     .len = static_cast<uint16_t>(size),
                     .flags = UVERBS_ATTR_F_MANDATORY,
                     .attr_data = {.reserved = 0},
                     .data = data};
    }

    /// What an attribute holds for bytes that go to the kernel: up to eight of them, or their address.
    [[gnu::always_inline]] static uint64_t in_attribute(const void *bytes, size_t size)
    {
        uint64_t data = 0;
        if (size > sizeof data)
            return reinterpret_cast<uintptr_t>(bytes);
        if (size == sizeof data)
            std::memcpy(&data, bytes, sizeof data);
        else
            std::memcpy(&data, bytes, std::min(size, sizeof data));
        return data;
    }

    [[gnu::always_inline]] Status issue_alone(Channel &channel)
    {
        header().length =
            static_cast<uint16_t>(sizeof(ib_uverbs_ioctl_hdr) + header().num_attrs * sizeof(ib_uverbs_attr));
        return channel.ioctl(header(), kInvokeWrite);
    }
    Status issue_with(Channel &channel, const DriverData &driver);
    Status issue_with_small_request(Channel &channel, const DriverData &driver);
    Status issue(Channel &channel, const DriverData &driver, uint64_t in_data);

    alignas(ib_uverbs_ioctl_hdr) std::byte storage_[sizeof(ib_uverbs_ioctl_hdr) + 5 * sizeof(ib_uverbs_attr)];
};

/// Issues the command: through the ioctl where the kernel has it, else through write. The choice is remembered.
[[gnu::always_inline]] inline Status execute(Channel &channel, uint32_t command, void *request,
                                             size_t request_size, void *response, size_t response_size,
                                             bool has_response_address, const DriverData &driver)
{
    if ((request_size | response_size) > UINT16_MAX)
        return EINVAL;
    if (channel.offers(kInvokeWrite)) [[likely]] {
        Status status =
            Invocation(command, request, request_size, response, response_size).issue(channel, driver);
        if (status || !Channel::is_refusal(status) || channel.offers(kInvokeWrite)) [[likely]]
            return status;
    }
    return execute_by_write(
        channel, {command, request, request_size, response, response_size, has_response_address}, driver);
}

template <class Request>
concept NamesItsResponse = requires(Request request)
{
    request.response;
};

/// A plain command with an answer.
template <NamesItsResponse Request, class Response>
[[gnu::always_inline]] inline Status write_command(Channel &channel, ib_uverbs_write_cmds command,
                                                   Request &request, Response &response,
                                                   const DriverData &driver = {})
{
    static_assert(offsetof(Request, response) == 0);
    return execute(channel, command, &request, sizeof request, &response, sizeof response, true, driver);
}

/// A plain command without an answer.
template <class Request>
[[gnu::always_inline]] inline Status write_command(Channel &channel, ib_uverbs_write_cmds command,
                                                   Request &request, const DriverData &driver = {})
{
    return execute(channel, command, &request, sizeof request, nullptr, 0, NamesItsResponse<Request>, driver);
}

/// An extended command (IB_USER_VERBS_EX_CMD_*), whose header holds the address of the answer.
template <class Request, class Response>
requires(!std::is_same_v<Response, const DriverData>) [[gnu::always_inline]] inline Status
    extended_command(Channel &channel, uint32_t command, Request &request, Response &response,
                     const DriverData &driver = {})
{
    return execute(channel, command | IB_USER_VERBS_CMD_FLAG_EXTENDED, &request, sizeof request, &response,
                   sizeof response, false, driver);
}

/// An extended command without an answer.
template <class Request>
[[gnu::always_inline]] inline Status extended_command(Channel &channel, uint32_t command, Request &request,
                                                      const DriverData &driver = {})
{
    return execute(channel, command | IB_USER_VERBS_CMD_FLAG_EXTENDED, &request, sizeof request, nullptr, 0,
                   false, driver);
}

}  // namespace verbs::uverbs
