// SPDX-License-Identifier: BSD-2-Clause
// The way to the kernel.
#include "uverbs/channel.hh"

#include <sys/ioctl.h>
#include <unistd.h>

namespace verbs::uverbs {

const SystemCalls Channel::kSystemCalls = {
    .ioctl = [](int fd, unsigned long request, void *argument) { return ::ioctl(fd, request, argument); },
    .write = ::write,
};

Status Channel::ioctl(ib_uverbs_ioctl_hdr &header)
{
    header.driver_id = driver_id_;
    return calls_->ioctl(fd_, RDMA_VERBS_IOCTL, &header) == 0 ? Status() : Status::from_errno();
}

Status Channel::ioctl(ib_uverbs_ioctl_hdr &header, Method method)
{
    Status failure = ioctl(header);
    if (failure.error() == ENOTTY) {
        for (std::atomic<uint32_t> &object : refused_)
            object.store(UINT32_MAX, std::memory_order_relaxed);
    } else if (failure.error() == EPROTONOSUPPORT) {
        refused_[method.object % kObjects].fetch_or(1U << (method.id % 32), std::memory_order_relaxed);
    }
    return failure;
}

Status Channel::write(const void *command, size_t size) const
{
    ssize_t written = calls_->write(fd_, command, size);
    if (written < 0)
        return Status::from_errno();
    return static_cast<size_t>(written) == size ? Status() : Status(EIO);
}

}  // namespace verbs::uverbs
