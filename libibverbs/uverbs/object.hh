// SPDX-License-Identifier: BSD-2-Clause
// What all kernel objects have in common: they are destroyed by handle.
#pragma once

#include <cstdint>

#include "uverbs/attributes.hh"
#include "uverbs/channel.hh"
#include "uverbs/write_command.hh"

namespace verbs::uverbs {

/// Destroys an object by its ioctl method. If the channel does not offer that afterwards, only the write
/// command can.
inline Status object_destroy_by_ioctl(Channel &channel, Method method, uint16_t handle_attribute,
                                      uint32_t handle)
{
    if (!channel.offers(method))
        return EPROTONOSUPPORT;
    return Attributes<1>(method).object(handle_attribute, handle).issue(channel);
}

/// The same for objects that tell how many of their events were reported.
template <class Response>
Status object_destroy_by_ioctl(Channel &channel, Method method, uint16_t handle_attribute, uint32_t handle,
                               uint16_t response_attribute, Response &response)
{
    if (!channel.offers(method))
        return EPROTONOSUPPORT;
    return Attributes<2>(method)
        .out(response_attribute, response)
        .object(handle_attribute, handle)
        .issue(channel);
}

/// The write command instead, for older kernels: apart, so that it does not make every destruction dearer.
template <class Request, class... Response>
[[gnu::noinline, gnu::cold]] Status object_destroy_by_write(Channel &channel, ib_uverbs_write_cmds command,
                                                            Request &request, Response &...response)
{
    return write_command(channel, command, request, response...);
}

/// Destroys an object whose destruction answers nothing: by its ioctl method, else by the write command with
/// `request`, which holds the handle too.
template <class Request>
Status object_destroy(Channel &channel, Method method, uint16_t handle_attribute, uint32_t handle,
                      ib_uverbs_write_cmds command, Request request)
{
    Status status = object_destroy_by_ioctl(channel, method, handle_attribute, handle);
    return channel.offers(method) ? status : object_destroy_by_write(channel, command, request);
}

/// The same for objects that tell how many of their events were reported.
template <class Request, class Response>
Status object_destroy(Channel &channel, Method method, uint16_t handle_attribute, uint32_t handle,
                      uint16_t response_attribute, ib_uverbs_write_cmds command, Request request,
                      Response &response)
{
    response = {};
    Status status =
        object_destroy_by_ioctl(channel, method, handle_attribute, handle, response_attribute, response);
    return channel.offers(method) ? status : object_destroy_by_write(channel, command, request, response);
}

}  // namespace verbs::uverbs
