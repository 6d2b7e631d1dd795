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

const SystemCalls Channel::kNoKernel = {
    .ioctl =
        [](int, unsigned long, void *) {
            errno = EOPNOTSUPP;
            return -1;
        },
    .write = [](int, const void *, size_t) -> ssize_t {
        errno = EOPNOTSUPP;
        return -1;
    },
};

Status Channel::learn(Status status, Method method)
{
    if (status.error() == ENOTTY && !has_ioctl_.load(std::memory_order_relaxed)) {
        for (std::atomic<uint32_t> &object : refused_)
            object.store(UINT32_MAX, std::memory_order_relaxed);
        return status;
    }
    if (is_refusal(status)) {
        Status asked = ask_for(method);
        if (is_refusal(asked)) {
            add(refused_, method);
            return status;
        }
        if (!asked && asked.error() != EINVAL)
            return asked;  // could not be told
    }
    add(known_, method);
    has_ioctl_.store(true, std::memory_order_relaxed);
    return status;
}

Status Channel::ask_for(Method method)
{
    ib_uverbs_ioctl_hdr nothing = {};
    nothing.length = sizeof nothing;
    nothing.object_id = method.object;
    nothing.method_id = method.id;
    return ioctl(nothing);
}

}  // namespace verbs::uverbs
