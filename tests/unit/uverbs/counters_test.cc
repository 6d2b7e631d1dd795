// SPDX-License-Identifier: BSD-2-Clause
// Commands for counters.
#include "uverbs/counters.hh"

#include <vector>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"create",
     [](Channel &channel) { return counters_create(channel, nullptr).error(); },
     ioctl(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE,
           {object(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0)}),
     {},
     {}},
    {"create_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return counters_create(channel, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE,
           {object(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0), in(0x1004, "bc0a0000"), out(0x1005, 4)}),
     {},
     {}},
    {"read",
     [](Channel &channel) {
         uint64_t values[5];
         return counters_read(channel, 0x5c, values, IB_UVERBS_READ_COUNTERS_PREFER_CACHED, nullptr).error();
     },
     ioctl(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ,
           {object(UVERBS_ATTR_READ_COUNTERS_HANDLE, 0x5c), out(UVERBS_ATTR_READ_COUNTERS_BUFF, 40),
            in(UVERBS_ATTR_READ_COUNTERS_FLAGS, "01000000")}),
     {},
     {}},
    {"read_with_driver",
     [](Channel &channel) {
         uint64_t value[1];
         DriverAttributes driver;
         return counters_read(channel, 0x5c, value, 0, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ,
           {object(UVERBS_ATTR_READ_COUNTERS_HANDLE, 0x5c), out(UVERBS_ATTR_READ_COUNTERS_BUFF, 8),
            in(0x1004, "bc0a0000"), out(0x1005, 4), in(UVERBS_ATTR_READ_COUNTERS_FLAGS, "00000000")}),
     {},
     {}},
    {"destroy",
     [](Channel &channel) { return counters_destroy(channel, 0x5c).error(); },
     ioctl(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
           {object(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, 0x5c)}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(Counters, Commands, testing::ValuesIn(kCommands), command_name);

class CountersTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(CountersTest, HaveTheKernelsHandle)
{
    kernel.new_object = 0x70f;
    EXPECT_EQ(*counters_create(channel, nullptr), 0x70fU);
}

TEST_F(CountersTest, AreRead)
{
    kernel.answers = {{UVERBS_ATTR_READ_COUNTERS_BUFF, bytes("01000000 00000000 00000000 01000000")}};
    uint64_t values[2];
    ASSERT_TRUE(counters_read(channel, 0x5c, values, 0, nullptr));
    EXPECT_EQ(values[0], 1U);
    EXPECT_EQ(values[1], uint64_t{1} << 32);
}

TEST_F(CountersTest, AreRefusedWhereAnAttributeCannotHoldThem)
{
    std::vector<uint64_t> values(UINT16_MAX / sizeof(uint64_t) + 1);
    EXPECT_EQ(counters_read(channel, 0x5c, values, 0, nullptr).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

}  // namespace
}  // namespace verbs::uverbs::test
