// SPDX-License-Identifier: BSD-2-Clause
// Calls on descriptors: commands to devices, events from channels, mmap, and what copies or closes
// descriptors.
#include <stdarg.h>
#include <string.h>

#include <algorithm>

#include "interpose/descriptors.hh"
#include "interpose/export.hh"
#include "interpose/netlink.hh"
#include "interpose/real.hh"
#include "kernel/command.hh"
#include "kernel/event.hh"

namespace sim {
namespace {

using Kind = Descriptors::Kind;

bool is_channel(Kind kind)
{
    return kind == Kind::kAsyncChannel || kind == Kind::kCompChannel;
}

/// One event per call, as the kernel gives them.
ssize_t read_event(int fd, Kind kind, void *buffer, size_t size)
{
    const size_t event =
        kind == Kind::kAsyncChannel ? sizeof(ib_uverbs_async_event_desc) : sizeof(ib_uverbs_comp_event_desc);
    if (size < event) {
        // First comes an event, then the question whether there is room for it.
        pollfd wanted = {.fd = fd, .events = POLLIN, .revents = 0};
        const bool waits = (REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK) == 0;
        errno = REAL(poll)(&wanted, 1, waits ? -1 : 0) == 0 ? EAGAIN : EINVAL;
        return -1;
    }
    const ssize_t got = REAL(read)(fd, buffer, event);
    if (got != static_cast<ssize_t>(event) || kind != Kind::kAsyncChannel)
        return got;
    ib_uverbs_async_event_desc desc;
    memcpy(&desc, buffer, sizeof desc);
    if (desc.event_type != kEndOfChannel)
        return got;
    // It stays the end for whoever reads next.
    (void)!REAL(write)(fd, &desc, sizeof desc);
    errno = EIO;
    return -1;
}

void *map(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0)
        if (File *file = Descriptors::get().device(fd)) {
            // What other drivers map is theirs: any page of the file is memory.
            const uint32_t driver = file->device().driver_id;
            const bool is_checked = driver == RDMA_DRIVER_RXE || driver == RDMA_DRIVER_SIW;
            if (file->is_disassociated()) {
                errno = EIO;
                return MAP_FAILED;
            }
            if (is_checked && !file->is_range(static_cast<uint64_t>(offset), size)) {
                errno = EINVAL;
                return MAP_FAILED;
            }
        }
    return REAL(mmap)(address, size, protection, flags, fd, offset);
}

}  // namespace
}  // namespace sim

using sim::Descriptors;
using sim::File;
using Kind = Descriptors::Kind;

SIM_EXPORT int ioctl(int fd, unsigned long request, ...) noexcept
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    SIM_FAIL_ON(kIoctl, -1);
    if (File *file = Descriptors::get().device(fd))
        return sim::run_ioctl(*file, fd, request, argument);
    return REAL(ioctl)(fd, request, argument);
}

SIM_EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
    SIM_FAIL_ON(kWrite, -1);
    switch (Descriptors::get().kind(fd)) {
        case Kind::kDevice:
            return sim::run_write(*Descriptors::get().device(fd), fd, buffer, size);
        case Kind::kAsyncChannel:
        case Kind::kCompChannel:
            errno = EINVAL;
            return -1;
        case Kind::kNetlink:
            return sim::netlink_send(fd, buffer, size);
        default:
            return REAL(write)(fd, buffer, size);
    }
}

SIM_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    SIM_FAIL_ON(kRead, -1);
    const Kind kind = Descriptors::get().kind(fd);
    if (sim::is_channel(kind))
        return sim::read_event(fd, kind, buffer, size);
    if (kind == Kind::kEmptyAttribute || kind == Kind::kDevice) {
        errno = EINVAL;
        return -1;
    }
    return REAL(read)(fd, buffer, size);
}

SIM_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t)
{
    return read(fd, buffer, size);
}

SIM_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) noexcept
{
    SIM_FAIL_ON(kMmap, MAP_FAILED);
    return sim::map(address, size, protection, flags, fd, offset);
}

SIM_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd,
                        off64_t offset) noexcept
{
    SIM_FAIL_ON(kMmap, MAP_FAILED);
    return sim::map(address, size, protection, flags, fd, offset);
}

SIM_EXPORT int madvise(void *address, size_t size, int advice) noexcept
{
    SIM_FAIL_ON(kMadvise, -1);
    return REAL(madvise)(address, size, advice);
}

SIM_EXPORT int close(int fd)
{
    // The kernel closes the descriptor whatever it answers.
    const int fault = sim::libc_fault(sim::LibcCall::kClose, __builtin_return_address(0));
    Descriptors::get().forget(fd);
    const int result = REAL(close)(fd);
    if (fault == 0)
        return result;
    errno = fault;
    return -1;
}

SIM_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept
{
    if (flags == 0)
        Descriptors::get().forget_range(first, last);
    return REAL(close_range)(first, last, flags);
}

SIM_EXPORT int dup(int fd) noexcept
{
    const int copy = REAL(dup)(fd);
    Descriptors::get().duplicate(fd, copy);
    return copy;
}

SIM_EXPORT int dup2(int fd, int copy) noexcept
{
    const int result = REAL(dup2)(fd, copy);
    Descriptors::get().duplicate(fd, result);
    return result;
}

SIM_EXPORT int dup3(int fd, int copy, int flags) noexcept
{
    const int result = REAL(dup3)(fd, copy, flags);
    Descriptors::get().duplicate(fd, result);
    return result;
}

#define DEFINE_FCNTL(name)                                    \
    SIM_EXPORT int name(int fd, int command, ...)             \
    {                                                         \
        va_list arguments;                                    \
        va_start(arguments, command);                         \
        void *argument = va_arg(arguments, void *);           \
        va_end(arguments);                                    \
        SIM_FAIL_ON(kFcntl, -1);                              \
        const int result = REAL(name)(fd, command, argument); \
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) \
            Descriptors::get().duplicate(fd, result);         \
        return result;                                        \
    }

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

SIM_EXPORT int poll(pollfd *fds, nfds_t count, int timeout)
{
    SIM_FAIL_ON(kPoll, -1);
    return REAL(poll)(fds, count, timeout);
}
