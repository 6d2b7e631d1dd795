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
    header.driver_id = driver_id_;
    if (calls_->ioctl(fd_, RDMA_VERBS_IOCTL, &header) == 0) [[likely]] {
        has_ioctl_.store(true, std::memory_order_relaxed);
        return {};
    }
    Status failure = Status::from_errno();
    if (is_refusal(failure) && !is_in(known_, method))
        judge_refusal(failure, method);
    else if (!is_refusal(failure))
        has_ioctl_.store(true, std::memory_order_relaxed);
    return failure;
}

void Channel::judge_refusal(Status refusal, Method method)
{
    if (refusal.error() == ENOTTY && !has_ioctl_.load(std::memory_order_relaxed)) {
        for (std::atomic<uint32_t> &object : refused_)
            object.store(UINT32_MAX, std::memory_order_relaxed);
        return;
    }
    add(kernel_knows(method) ? known_ : refused_, method);
}

bool Channel::kernel_knows(Method method)
{
    ib_uverbs_ioctl_hdr nothing = {};
    nothing.length = sizeof nothing;
    nothing.object_id = method.object;
    nothing.method_id = method.id;
    return !is_refusal(ioctl(nothing));
}

Status Channel::write(const void *command, size_t size) const
{
    ssize_t written = calls_->write(fd_, command, size);
    if (written < 0)
        return Status::from_errno();
    return static_cast<size_t>(written) == size ? Status() : Status(EIO);
}

}  // namespace verbs::uverbs
