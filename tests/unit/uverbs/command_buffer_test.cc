// SPDX-License-Identifier: BSD-2-Clause
// ioctl commands that drivers put together.
#include "uverbs/command_buffer.hh"

#include <algorithm>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

class CommandBufferTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

// A method of a driver; its number is like that of a method of ours in the lower bits.
constexpr uint16_t kObject = 0x1000;
constexpr uint16_t kMethod = 0x1000;

TEST_F(CommandBufferTest, CountsAttributesOfTheWholeChain)
{
    EXPECT_EQ(attribute_count(nullptr), 0U);
    DriverAttributes first;
    DriverAttributes second;
    EXPECT_EQ(attribute_count(&first.buffer), 2U);
    first.buffer.next = &second.buffer;
    second.buffer.next_attr = second.buffer.hdr.attrs + 1;
    EXPECT_EQ(attribute_count(&first.buffer), 3U);
}

TEST_F(CommandBufferTest, IsIssuedAlone)
{
    DriverAttributes command;
    command.buffer.hdr.object_id = kObject;
    command.buffer.hdr.method_id = kMethod;
    kernel.answers = {{0x1005, bytes("2a000000")}};
    EXPECT_TRUE(issue(channel, command.buffer));
    EXPECT_EQ(kernel.take(), ioctl(kObject, kMethod, {in(0x1004, "bc0a0000"), out(0x1005, 4)}));
    EXPECT_EQ(command.answer, 0x2aU);
    EXPECT_EQ(command[0].flags, UVERBS_ATTR_F_MANDATORY);
    EXPECT_EQ(command[1].flags, UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
}

TEST_F(CommandBufferTest, IsIssuedWithAllThatIsLinked)
{
    DriverAttributes command;
    DriverAttributes linked;
    command.buffer.hdr.object_id = UVERBS_OBJECT_DM;
    command.buffer.hdr.method_id = UVERBS_METHOD_DM_ALLOC;
    command[0] = {.attr_id = UVERBS_ATTR_ALLOC_DM_HANDLE, .flags = UVERBS_ATTR_F_MANDATORY};
    command.buffer.next_attr = command.buffer.hdr.attrs + 1;
    command.buffer.next = &linked.buffer;
    kernel.new_object = 0x70e;
    kernel.answers = {{0x1005, bytes("2a000000")}};
    EXPECT_TRUE(issue(channel, command.buffer));
    EXPECT_EQ(kernel.take(),
              ioctl(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
                    {object(UVERBS_ATTR_ALLOC_DM_HANDLE, 0), in(0x1004, "bc0a0000"), out(0x1005, 4)}));
    EXPECT_EQ(command[0].data, 0x70eU) << "the handle comes back";
    EXPECT_EQ(linked.answer, 0x2aU);
    EXPECT_EQ(linked[1].flags, UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
}

TEST_F(CommandBufferTest, IsLeftAloneOnFailure)
{
    DriverAttributes command;
    DriverAttributes linked;
    command.buffer.next = &linked.buffer;
    kernel.error = EBUSY;
    EXPECT_EQ(issue(channel, command.buffer).error(), EBUSY);
    EXPECT_EQ(linked[1].flags, UVERBS_ATTR_F_MANDATORY);
}

TEST_F(CommandBufferTest, MayBeLong)
{
    CommandBuffer<255> command;
    for (int i = 0; i < 255; ++i)
        command.add(static_cast<uint16_t>(0x2000 + i), 0).data = 7;
    DriverAttributes first;
    first.buffer.next = &command.buffer;
    EXPECT_TRUE(issue(channel, first.buffer));
    std::string issued = kernel.take();
    EXPECT_EQ(std::count(issued.begin(), issued.end(), '\n'), 1 + 2 + 255);
}

TEST_F(CommandBufferTest, WithAnErrorIsNotIssued)
{
    DriverAttributes command;
    DriverAttributes linked;
    command.buffer.next = &linked.buffer;
    linked.buffer.buffer_error = 1;
    EXPECT_EQ(issue(channel, command.buffer).error(), EINVAL);
    linked.buffer.buffer_error = 0;
    command.buffer.buffer_error = 1;
    EXPECT_EQ(issue(channel, command.buffer).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(CommandBufferTest, ThatIsLongerThanAnIoctlIsRefused)
{
    DriverAttributes command;
    command.buffer.next_attr = reinterpret_cast<ib_uverbs_attr *>(
        reinterpret_cast<uintptr_t>(command.buffer.hdr.attrs) + 4095 * sizeof(ib_uverbs_attr));  // not read
    EXPECT_EQ(issue(channel, command.buffer).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(CommandBufferTest, ThatTheKernelDoesNotKnowSaysNothingOfOtherMethods)
{
    DriverAttributes command;
    command.buffer.hdr.object_id = kObject;
    command.buffer.hdr.method_id = kMethod;
    kernel.no_methods = true;
    EXPECT_EQ(issue(channel, command.buffer).error(), EPROTONOSUPPORT);
    for (uint16_t object = 0; object < 32; ++object) {
        for (uint16_t method = 0; method < 32; ++method)
            EXPECT_TRUE(channel.offers({object, method}));
    }
}

}  // namespace
}  // namespace verbs::uverbs::test
