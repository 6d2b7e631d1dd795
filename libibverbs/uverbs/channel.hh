// SPDX-License-Identifier: BSD-2-Clause
// The way to the kernel: one uverbs file descriptor, what it was found not to offer, and the calls that tests replace.
#pragma once

#include <linux/ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.hh"

namespace verbs::uverbs {

/// The system calls that carry commands, with the results and errno of ioctl(2) and write(2).
struct SystemCalls {
    int (*ioctl)(int fd, unsigned long request, void *argument);
    ssize_t (*write)(int fd, const void *buffer, size_t size);
};

/// One object method of the ioctl interface: UVERBS_OBJECT_* and UVERBS_METHOD_*.
struct Method {
    uint16_t object;
    uint16_t id;
};

/// A context's connection to the kernel. Any thread may use it; it owns nothing.
class Channel {
public:
    /// `fd` is an open uverbs character device, `driver_id` the kernel driver behind it (enum rdma_driver_id).
    Channel(int fd, uint32_t driver_id, const SystemCalls &calls = kSystemCalls)
        : calls_(&calls), fd_(fd), driver_id_(driver_id)
    {
    }

    int fd() const { return fd_; }
    /// Goes on with another descriptor of the same open file, before anybody else uses the channel.
    void set_fd(int fd) { fd_ = fd; }
    uint32_t driver_id() const { return driver_id_; }

    /// Whether the kernel is still believed to know the method; false once it said that it does not.
    bool offers(Method method) const { return !is_in(refused_, method); }

    /// Issues the ioctl whose method the header names; fills in the driver id.
    Status ioctl(ib_uverbs_ioctl_hdr &header)
    {
        header.driver_id = driver_id_;
        if (calls_->ioctl(fd_, RDMA_VERBS_IOCTL, &header) == 0) [[likely]]
            return {};
        return Status::from_errno();
    }

    /// The same for a method that has another form, which is to be used once offers() is false.
    /// EPROTONOSUPPORT and ENOTTY are what kernels say that do not know the method, but drivers may answer so
    /// too: only where the kernel says it of a command without attributes as well, which every method refuses
    /// otherwise, is the method remembered as missing.
    Status ioctl(ib_uverbs_ioctl_hdr &header, Method method)
    {
        Status status = ioctl(header);
        if (!is_in(known_, method)) [[unlikely]]
            return learn(status, method);
        return status;
    }

    /// Issues one write command, a whole number of bytes or nothing.
    Status write(const void *command, size_t size) const
    {
        ssize_t written = calls_->write(fd_, command, size);
        if (written == static_cast<ssize_t>(size)) [[likely]]
            return {};
        return written < 0 ? Status::from_errno() : Status(EIO);
    }

    /// Whether `status` of an ioctl says that the interface, not the request, is what the kernel does not know.
    static bool is_refusal(Status status)
    {
        return status.error() == EPROTONOSUPPORT || status.error() == ENOTTY;
    }

    static const SystemCalls kSystemCalls;
    /// For contexts of devices that the kernel does not know: whatever it is asked is EOPNOTSUPP.
    static const SystemCalls kNoKernel;

private:
    static constexpr size_t kObjects = 32;
    using Methods = std::array<std::atomic<uint32_t>, kObjects>;  // a bit per method, a word per object

    static bool is_in(const Methods &methods, Method method)
    {
        return (methods[method.object % kObjects].load(std::memory_order_relaxed) >> (method.id % 32) & 1) !=
               0;
    }
    static void add(Methods &methods, Method method)
    {
        methods[method.object % kObjects].fetch_or(1U << (method.id % 32), std::memory_order_relaxed);
    }
    /// What the kernel says to a command without attributes: EINVAL, unless it does not know the method.
    Status ask_for(Method method);

    /// Remembers what the first answer to a method says of the kernel; asks whether a refusal was the kernel's or the
    /// driver's. `status`, or why that could not be told.
    Status learn(Status status, Method method);

    const SystemCalls *calls_;
    int fd_;
    uint32_t driver_id_;
    Methods refused_{};  // not known to the kernel
    Methods known_{};    // seen to be known
    std::atomic<bool> has_ioctl_ = false;
};

}  // namespace verbs::uverbs
