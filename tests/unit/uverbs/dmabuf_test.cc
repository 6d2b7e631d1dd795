// SPDX-License-Identifier: BSD-2-Clause
// Commands for dma-bufs of a device's own memory.
#include "uverbs/dmabuf.hh"

#include <fcntl.h>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"export",
     [](Channel &channel) {
         Result<UniqueFd> fd = dmabuf_export(channel, 0x123456789);
         return fd ? (fd->release(), 0) : fd.error();
     },
     ioctl(UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC,
           {object(UVERBS_ATTR_ALLOC_DMABUF_HANDLE, 0),
            in(UVERBS_ATTR_ALLOC_DMABUF_PGOFF, "89674523 01000000")}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(Dmabuf, Commands, testing::ValuesIn(kCommands), command_name);

TEST(DmabufTest, IsTheFileThatTheKernelMade)
{
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    kernel.new_object = static_cast<uint64_t>(file);
    {
        Result<UniqueFd> fd = dmabuf_export(channel, 0);
        ASSERT_TRUE(fd);
        EXPECT_EQ(fd->get(), file);
    }
    EXPECT_EQ(fcntl(file, F_GETFD), -1) << "and is the caller's to close";
}

}  // namespace
}  // namespace verbs::uverbs::test
