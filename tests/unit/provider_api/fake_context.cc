// SPDX-License-Identifier: BSD-2-Clause
// A context on a fake kernel, and the system calls that lead to it instead of to the C library.
#include "fake_context.hh"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace verbs::test {

Redirection redirection;
bool fake_heap;

FakeContext::FakeContext()
{
    // A file behind the number, which closing the context closes.
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(file, FakeKernel::kFd) != FakeKernel::kFd)
        std::abort();
    close(file);
    std::strcpy(device_.device.name, "fake0");
    device_ops_.name = "fake";
    device_.ops = &device_ops_;
    device_.sysfs = &sysfs_;
    device_.refcount = 1;
    context_ = static_cast<verbs_context *>(_verbs_init_and_alloc_context(
        &device_.device, FakeKernel::kFd, sizeof(verbs_context), nullptr, FakeKernel::kDriver));
    if (context_ == nullptr)
        std::abort();
    context = &context_->context;
    pd = {.context = context, .handle = 0x11};
}

FakeContext::~FakeContext()
{
    verbs_uninit_context(context_);
    std::free(context_);
    EXPECT_EQ(device_.refcount, 1);
}

}  // namespace verbs::test

using verbs::test::FakeKernel;
using verbs::test::redirection;

// Of the libraries' calls only those that concern the uverbs interface; the rest is the system's.

extern "C" __attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...) noexcept
{
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (request == RDMA_VERBS_IOCTL)
        return FakeKernel::calls.ioctl(fd, request, argument);
    if (request == DMA_HEAP_IOCTL_ALLOC && verbs::test::fake_heap) {
        auto &allocation = *static_cast<dma_heap_allocation_data *>(argument);
        int file = memfd_create("heap", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(allocation.len)) != 0)
            std::abort();
        allocation.fd = static_cast<uint32_t>(file);
        return 0;
    }
    return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

extern "C" __attribute__((visibility("default"))) ssize_t write(int fd, const void *buffer, size_t size)
{
    if (fd == FakeKernel::kFd)
        return FakeKernel::calls.write(fd, buffer, size);
    return syscall(SYS_write, fd, buffer, size);
}

extern "C" __attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    bool elsewhere = !redirection.from.empty() && redirection.from == path;
    return openat(AT_FDCWD, elsewhere ? redirection.to.c_str() : path, flags, mode);
}
