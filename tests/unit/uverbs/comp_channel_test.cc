// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion channels.
#include "uverbs/comp_channel.hh"

#include <fcntl.h>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

class CompChannelTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(CompChannelTest, IsAFile)
{
    int file = open("/dev/null", O_RDONLY);
    kernel.written = std::string(reinterpret_cast<const char *>(&file), sizeof file);
    Result<UniqueFd> made = comp_channel_create(channel);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->get(), file);
    EXPECT_EQ(kernel.take(), invoke(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "00000000 00000000", 4));
}

TEST_F(CompChannelTest, IsWritten)
{
    kernel.no_ioctl = true;
    int file = open("/dev/null", O_RDONLY);
    kernel.written = std::string(reinterpret_cast<const char *>(&file), sizeof file);
    ASSERT_TRUE(comp_channel_create(channel));
    EXPECT_EQ(kernel.take(), invoke(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "00000000 00000000", 4) +
                                 write("11000000 04000100 answer"));
}

TEST_F(CompChannelTest, PassesErrorsOn)
{
    kernel.error = EMFILE;
    EXPECT_EQ(comp_channel_create(channel).error(), EMFILE);
}

}  // namespace
}  // namespace verbs::uverbs::test
