// SPDX-License-Identifier: BSD-2-Clause
// The way to the kernel: what it was found not to offer is not asked for again.
#include "uverbs/channel.hh"

#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include <climits>

#include "fake_kernel.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs::test {
namespace {

constexpr Method kAsked = {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR};

class ChannelTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};

    int ask() { return Attributes<1>(kAsked).object(UVERBS_ATTR_QUERY_MR_HANDLE, 1).issue(channel).error(); }

    int offered() const
    {
        int count = 0;
        for (uint16_t object = 0; object < 32; ++object) {
            for (uint16_t method = 0; method < 32; ++method)
                count += channel.offers({object, method}) ? 1 : 0;
        }
        return count;
    }
};

TEST_F(ChannelTest, BelievesThatTheKernelHasAll)
{
    EXPECT_EQ(offered(), 32 * 32);
    EXPECT_EQ(ask(), 0);
    EXPECT_EQ(offered(), 32 * 32);
}

TEST_F(ChannelTest, RemembersAMethodThatIsMissing)
{
    kernel.no_methods = true;
    EXPECT_EQ(ask(), EPROTONOSUPPORT);
    EXPECT_FALSE(channel.offers(kAsked));
    EXPECT_EQ(offered(), 32 * 32 - 1);
}

TEST_F(ChannelTest, AsksOnceWhetherAMethodIsMissing)
{
    const std::string asked = ioctl(kAsked.object, kAsked.id, {object(UVERBS_ATTR_QUERY_MR_HANDLE, 1)});
    kernel.error = EPROTONOSUPPORT;  // of the driver
    EXPECT_EQ(ask(), EPROTONOSUPPORT);
    EXPECT_EQ(kernel.take(), asked + probe(asked));
    EXPECT_EQ(ask(), EPROTONOSUPPORT);
    EXPECT_EQ(kernel.take(), asked);
    EXPECT_TRUE(channel.offers(kAsked));
}

TEST_F(ChannelTest, AnEmptyCommandThatSucceedsIsNotTheAnswer)
{
    static const SystemCalls refuse_attributes = {
        .ioctl =
            [](int, unsigned long, void *argument) {
                errno = EPROTONOSUPPORT;
                return static_cast<ib_uverbs_ioctl_hdr *>(argument)->num_attrs == 0 ? 0 : -1;
            },
        .write = nullptr,
    };
    constexpr Method kGetContext = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT};
    Channel other(FakeKernel::kFd, FakeKernel::kDriver, refuse_attributes);
    for (int i = 0; i < 2; ++i) {
        Attributes<1> get(kGetContext);
        EXPECT_EQ(get.in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, i).issue(other).error(), EPROTONOSUPPORT);
        EXPECT_TRUE(other.offers(kGetContext));
    }
}

TEST_F(ChannelTest, AsksNothingOfAMethodThatWorked)
{
    EXPECT_EQ(ask(), 0);
    kernel.take();
    for (int error : {EPROTONOSUPPORT, ENOTTY}) {
        kernel.error = error;
        EXPECT_EQ(ask(), error);
        EXPECT_EQ(kernel.take(), ioctl(kAsked.object, kAsked.id, {object(UVERBS_ATTR_QUERY_MR_HANDLE, 1)}));
    }
    EXPECT_EQ(offered(), 32 * 32);
}

TEST_F(ChannelTest, TakesNoDriversAnswerForTheWholeInterface)
{
    Channel &used = channel;
    ASSERT_TRUE(Attributes<1>({UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY})
                    .object(UVERBS_ATTR_DESTROY_MR_HANDLE, 1)
                    .issue(used));
    kernel.error = ENOTTY;
    EXPECT_EQ(ask(), ENOTTY);
    EXPECT_EQ(offered(), 32 * 32);
}

TEST_F(ChannelTest, RemembersThatTheInterfaceIsMissing)
{
    kernel.no_ioctl = true;
    EXPECT_EQ(ask(), ENOTTY);
    EXPECT_EQ(offered(), 0);
}

TEST_F(ChannelTest, TakesNoOtherErrorForARefusal)
{
    for (int error : {EINVAL, EOPNOTSUPP, ENOSYS, EIO, EPERM, ENODEV, ENOMEM, EFAULT}) {
        kernel.error = error;
        EXPECT_EQ(ask(), error);
        EXPECT_FALSE(Channel::is_refusal(Status(error)));
    }
    EXPECT_EQ(offered(), 32 * 32);
}

TEST_F(ChannelTest, OfAnotherContextKnowsNothingOfIt)
{
    kernel.no_ioctl = true;
    EXPECT_EQ(ask(), ENOTTY);
    Channel other(FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls);
    EXPECT_TRUE(other.offers(kAsked));
}

TEST(ChannelWriteTest, HalfACommandIsAnError)
{
    static const SystemCalls half = {
        .ioctl = [](int, unsigned long, void *) { return 0; },
        .write = [](int, const void *, size_t size) { return static_cast<ssize_t>(size / 2); },
    };
    Channel channel(FakeKernel::kFd, FakeKernel::kDriver, half);
    EXPECT_EQ(channel.write("12345678", 8).error(), EIO);
}

TEST(ChannelWriteTest, AFailureWithoutACauseIsAnError)
{
    static const SystemCalls silent = {
        .ioctl =
            [](int, unsigned long, void *) {
                errno = 0;
                return -1;
            },
        .write =
            [](int, const void *, size_t) {
                errno = 0;
                return ssize_t{-1};
            },
    };
    Channel channel(FakeKernel::kFd, FakeKernel::kDriver, silent);
    EXPECT_EQ(channel.write("12345678", 8).error(), EIO);
}

}  // namespace
}  // namespace verbs::uverbs::test
