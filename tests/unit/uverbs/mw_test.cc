// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory windows.
#include "uverbs/mw.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"alloc_type1",
     [](Channel &channel) { return mw_alloc(channel, 0x11, IBV_MW_TYPE_1, {}).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_ALLOC_MW, "00000000 00000000 11000000 01000000", 8),
     write("0e000000 06000200 answer 11000000 01000000")},
    {"alloc_type2",
     [](Channel &channel) { return mw_alloc(channel, 0x11, IBV_MW_TYPE_2, kDriverData).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_ALLOC_MW, "00000000 00000000 11000000 02000000", 8, "d0d1d2d3 d4d5d6d7", 8),
     write("0e000000 08000400 answer 11000000 02000000 d0d1d2d3 d4d5d6d7")},
    {"dealloc", [](Channel &channel) { return mw_dealloc(channel, 0x22).error(); },
     ioctl(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, {object(UVERBS_ATTR_DESTROY_MW_HANDLE, 0x22)}),
     invoke(IB_USER_VERBS_CMD_DEALLOC_MW, "22000000"), write("10000000 03000000 22000000")},
};

INSTANTIATE_TEST_SUITE_P(Mw, Commands, testing::ValuesIn(kCommands), command_name);

class MwTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(MwTest, HasHandleAndKey)
{
    kernel.written = bytes("01000000 02000000");
    Result<MwInfo> mw = mw_alloc(channel, 0x11, IBV_MW_TYPE_2, {});
    ASSERT_TRUE(mw);
    EXPECT_EQ(mw->handle, 1U);
    EXPECT_EQ(mw->rkey, 2U);
}

}  // namespace
}  // namespace verbs::uverbs::test
