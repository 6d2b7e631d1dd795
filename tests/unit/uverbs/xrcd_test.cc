// SPDX-License-Identifier: BSD-2-Clause
// Commands for XRC domains.
#include "uverbs/xrcd.hh"

#include <fcntl.h>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"open",
     [](Channel &channel) { return xrcd_open(channel, 55, O_CREAT, kDriverData).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_OPEN_XRCD, "00000000 00000000 37000000 40000000", 4, "d0d1d2d3 d4d5d6d7", 8),
     write("25000000 08000300 answer 37000000 40000000 d0d1d2d3 d4d5d6d7")},
    {"open_private",
     [](Channel &channel) { return xrcd_open(channel, -1, O_CREAT, {}).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_OPEN_XRCD, "00000000 00000000 ffffffff 40000000", 4),
     write("25000000 06000100 answer ffffffff 40000000")},
    {"close", [](Channel &channel) { return xrcd_close(channel, 0x66).error(); },
     ioctl(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, {object(UVERBS_ATTR_DESTROY_XRCD_HANDLE, 0x66)}),
     invoke(IB_USER_VERBS_CMD_CLOSE_XRCD, "66000000"), write("26000000 03000000 66000000")},
};

INSTANTIATE_TEST_SUITE_P(Xrcd, Commands, testing::ValuesIn(kCommands), command_name);

class XrcdTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(XrcdTest, HasTheKernelsHandle)
{
    kernel.written = bytes("66000000");
    EXPECT_EQ(*xrcd_open(channel, 55, O_CREAT, {}), 0x66U);
}

}  // namespace
}  // namespace verbs::uverbs::test
