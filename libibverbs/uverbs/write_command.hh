// SPDX-License-Identifier: BSD-2-Clause
// Commands that have the form of the write interface, issued through the ioctl that invokes them or through write(2).
#pragma once

#include <rdma/ib_user_verbs.h>

#include <cstddef>
#include <cstdint>

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

/// Issues the command: through the ioctl where the kernel has it, else through write. The choice is remembered.
Status execute(Channel &channel, const WriteCommand &command, const DriverData &driver);

/// The same without a driver's part, and through write first, which costs the kernel less. Kernels refuse write to
/// a process whose credentials changed since it opened the device (EACCES): then through the ioctl.
Status execute_on_data_path(Channel &channel, const WriteCommand &command);

template <class Request>
concept NamesItsResponse = requires(Request request)
{
    request.response;
};

/// A plain command with an answer.
template <NamesItsResponse Request, class Response>
Status write_command(Channel &channel, ib_uverbs_write_cmds command, Request &request, Response &response,
                     const DriverData &driver = {})
{
    static_assert(offsetof(Request, response) == 0);
    return execute(channel, {command, &request, sizeof request, &response, sizeof response, true}, driver);
}

/// A plain command without an answer.
template <class Request>
Status write_command(Channel &channel, ib_uverbs_write_cmds command, Request &request,
                     const DriverData &driver = {})
{
    return execute(channel, {command, &request, sizeof request, nullptr, 0, NamesItsResponse<Request>},
                   driver);
}

/// An extended command (IB_USER_VERBS_EX_CMD_*), whose header holds the address of the answer.
template <class Request, class Response>
requires(!std::is_same_v<Response, const DriverData>) Status
    extended_command(Channel &channel, uint32_t command, Request &request, Response &response,
                     const DriverData &driver = {})
{
    return execute(channel,
                   {command | IB_USER_VERBS_CMD_FLAG_EXTENDED, &request, sizeof request, &response,
                    sizeof response, false},
                   driver);
}

/// An extended command without an answer.
template <class Request>
Status extended_command(Channel &channel, uint32_t command, Request &request, const DriverData &driver = {})
{
    return execute(channel,
                   {command | IB_USER_VERBS_CMD_FLAG_EXTENDED, &request, sizeof request, nullptr, 0, false},
                   driver);
}

}  // namespace verbs::uverbs
