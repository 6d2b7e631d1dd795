// SPDX-License-Identifier: BSD-2-Clause
// Commands that open event channels: completion channels and asynchronous events.
#include "interpose/descriptors.hh"
#include "kernel/event.hh"
#include "kernel/methods.hh"
#include "session.hh"

namespace sim {
namespace {

constexpr Field kCreateRequest[] = {SIM_FIELD(ib_uverbs_create_comp_channel, response, Show::kHidden)};
constexpr Field kCreateResponse[] = {SIM_FIELD(ib_uverbs_create_comp_channel_resp, fd, Show::kFd)};

int create_comp_channel(Call &call)
{
    uint32_t channel = 0;
    const int fd = open_channel(channel);
    if (fd < 0)
        return -fd;
    Descriptors::get().set_channel(fd, channel, false);
    call.respond(ib_uverbs_create_comp_channel_resp{.fd = static_cast<uint32_t>(fd)});
    return 0;
}

constexpr Attribute kAlloc[] = {{UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, "fd_handle", Kind::kNewFd}};

int alloc_async(Call &call)
{
    uint32_t channel = 0;
    const int fd = open_channel(channel);
    if (fd < 0)
        return -fd;
    Descriptors::get().set_channel(fd, channel, true);
    // The first one gets what has no file of its own.
    if (call.state().default_async == 0)
        set_default_async(call.file(), channel);
    call.set_new(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, static_cast<uint64_t>(fd));
    return 0;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ASYNC_EVENT/ALLOC", kAlloc, alloc_async},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "COMP_CHANNEL/CREATE", sizeof(ib_uverbs_create_comp_channel),
     sizeof(ib_uverbs_create_comp_channel_resp), kCreateRequest, kCreateResponse, create_comp_channel},
};

}  // namespace

Methods event_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
