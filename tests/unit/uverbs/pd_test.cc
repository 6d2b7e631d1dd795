// SPDX-License-Identifier: BSD-2-Clause
// Commands for protection domains.
#include "uverbs/pd.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"alloc",
     [](Channel &channel) { return pd_alloc(channel, kDriverData).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_ALLOC_PD, "00000000 00000000", 4, "d0d1d2d3 d4d5d6d7", 8),
     write("03000000 06000300 answer d0d1d2d3 d4d5d6d7")},
    {"alloc_plain",
     [](Channel &channel) { return pd_alloc(channel, {}).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_ALLOC_PD, "00000000 00000000", 4),
     write("03000000 04000100 answer")},
    {"dealloc", [](Channel &channel) { return pd_dealloc(channel, 0x11).error(); },
     ioctl(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, {object(UVERBS_ATTR_DESTROY_PD_HANDLE, 0x11)}),
     invoke(IB_USER_VERBS_CMD_DEALLOC_PD, "11000000"), write("04000000 03000000 11000000")},
};

INSTANTIATE_TEST_SUITE_P(Pd, Commands, testing::ValuesIn(kCommands), command_name);

class PdTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(PdTest, HasTheKernelsHandle)
{
    kernel.written = bytes("12340000");
    EXPECT_EQ(*pd_alloc(channel, {}), 0x3412U);
}

}  // namespace
}  // namespace verbs::uverbs::test
