// SPDX-License-Identifier: BSD-2-Clause
// Opening a device, and what it tells of itself.
#include "rxe/context.hh"

#include "fake_kernel.hh"

namespace rxe::test {
namespace {

class ContextTest : public RxeTest {};

TEST_F(ContextTest, FailsWithoutLeftovers)
{
    kernel_.fail("get_context", EACCES);
    errno = 0;
    EXPECT_EQ(context_alloc(nullptr, kernel_.fd(), nullptr), nullptr);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(kernel_.count("uninit_context"), 1);
}

TEST_F(ContextTest, OpensWhereTheDeviceCannotBeQueried)
{
    kernel_.capabilities = IB_UVERBS_DEVICE_ATOMIC_WRITE;
    kernel_.fail("query_device", EPERM);
    reopen();
    EXPECT_EQ(to_context(&context_->context)->capabilities, 0u);
    reopen();
    EXPECT_EQ(to_context(&context_->context)->capabilities, uint64_t{IB_UVERBS_DEVICE_ATOMIC_WRITE});
}

TEST_F(ContextTest, WritesTheFirmwareVersion)
{
    kernel_.firmware = 0x0001000200030004;
    ibv_device_attr_ex attr{};
    ASSERT_EQ(ops().query_device_ex(&context_->context, nullptr, &attr, sizeof(attr)), 0);
    EXPECT_STREQ(attr.orig_attr.fw_ver, "2.3.4");
    kernel_.fail("query_device", EIO);
    EXPECT_EQ(ops().query_device_ex(&context_->context, nullptr, &attr, sizeof(attr)), EIO);
    ibv_port_attr port;
    kernel_.fail("query_port", EINVAL);
    EXPECT_EQ(ops().query_port(&context_->context, 1, &port), EINVAL);
}

}  // namespace
}  // namespace rxe::test
