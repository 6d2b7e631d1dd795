// SPDX-License-Identifier: BSD-2-Clause
// Commands for device memory.
#include "uverbs/dm.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"alloc",
     [](Channel &channel) { return dm_alloc(channel, 4096, 6, nullptr).error(); },
     ioctl(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
           {object(UVERBS_ATTR_ALLOC_DM_HANDLE, 0), in(UVERBS_ATTR_ALLOC_DM_LENGTH, "00100000 00000000"),
            in(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, "06000000")}),
     {},
     {}},
    {"alloc_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return dm_alloc(channel, 4096, 6, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
           {object(UVERBS_ATTR_ALLOC_DM_HANDLE, 0), in(UVERBS_ATTR_ALLOC_DM_LENGTH, "00100000 00000000"),
            in(0x1004, "bc0a0000"), out(0x1005, 4), in(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, "06000000")}),
     {},
     {}},
    {"free",
     [](Channel &channel) { return dm_free(channel, 0x44).error(); },
     ioctl(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, {object(UVERBS_ATTR_FREE_DM_HANDLE, 0x44)}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(Dm, Commands, testing::ValuesIn(kCommands), command_name);

class DmTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(DmTest, HasTheKernelsHandle)
{
    kernel.new_object = 0x70e;
    EXPECT_EQ(*dm_alloc(channel, 4096, 6, nullptr), 0x70eU);
}

}  // namespace
}  // namespace verbs::uverbs::test
