// SPDX-License-Identifier: BSD-2-Clause
// Event channels: the files from which asynchronous and completion events are read.
#include "kernel/event.hh"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "interpose/descriptors.hh"
#include "interpose/real.hh"
#include "session.hh"

namespace sim {
namespace {

std::string path_of(const char *session, uint32_t number)
{
    return std::string(session) + "/events/" + std::to_string(number);
}

/// Nobody reads it: the event is lost, as the kernel's are when the file is closed.
void put(const char *session, uint32_t channel, const void *event, size_t size)
{
    if (channel == 0)
        return;
    const int saved = errno;
    const int fd = REAL(open)(path_of(session, channel).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        (void)!REAL(write)(fd, event, size);
        REAL(close)(fd);
    }
    errno = saved;
}

void put_async(const char *session, uint32_t channel, uint32_t type, uint64_t element)
{
    const ib_uverbs_async_event_desc event = {.element = element, .event_type = type, .reserved = 0};
    put(session, channel, &event, sizeof event);
}

}  // namespace

int open_channel(uint32_t &number)
{
    Session &session = Session::get();
    number = session.shared().next_channel.fetch_add(1);
    const std::string path = path_of(session.directory().c_str(), number);
    if (mkfifo(path.c_str(), 0600) != 0)
        return -errno;
    // For reading and writing: reading never comes to an end, and opening does not wait.
    const int fd = REAL(open)(path.c_str(), O_RDWR | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

uint32_t channel_of(int fd)
{
    if (const uint32_t known = Descriptors::get().channel(fd))
        return known;
    return find_channel(fd);
}

uint32_t find_channel(int fd)
{
    char link[64];
    char target[512] = {};
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (syscall(SYS_readlink, link, target, sizeof target - 1) < 0)
        return 0;
    const std::string prefix = Session::get().directory() + "/events/";
    if (strncmp(target, prefix.c_str(), prefix.size()) != 0)
        return 0;
    return static_cast<uint32_t>(strtoul(target + prefix.size(), nullptr, 10));
}

void put_async_event(const File &file, uint32_t channel, uint32_t type, uint64_t element)
{
    put_async(const_cast<File &>(file).state().session, channel, type, element);
}

void put_comp_event(const File &file, uint32_t channel, uint64_t cq_handle)
{
    const ib_uverbs_comp_event_desc event = {.cq_handle = cq_handle};
    put(const_cast<File &>(file).state().session, channel, &event, sizeof event);
}

void raise_on_all_files(const Device &device, uint32_t type, uint32_t element)
{
    Session &session = Session::get();
    for (SharedPage::OpenFile &file : session.shared().files) {
        if (file.device_plus_one.load() != device.index + 1)
            continue;
        const uint32_t channel = file.async_channel.load();
        put_async(session.directory().c_str(), channel, type, element);
        if (type == IBV_EVENT_DEVICE_FATAL && !session.is_present(device))
            put_async(session.directory().c_str(), channel, kEndOfChannel, 0);
    }
}

void raise_on_object(File &file, Object &object, uint32_t type)
{
    ++object.async_events;
    put_async_event(file, object.async_channel, type, object.user_handle);
}

void set_default_async(File &file, uint32_t channel)
{
    file.state().default_async = channel;
    if (file.state().slot != kNone)
        Session::get().shared().files[file.state().slot].async_channel.store(channel);
}

}  // namespace sim
