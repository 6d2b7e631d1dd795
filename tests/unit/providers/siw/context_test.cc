// SPDX-License-Identifier: BSD-2-Clause
// Opening a device, and what it tells of itself.
#include "siw/context.hh"

#include "fake_kernel.hh"

namespace siw::test {
namespace {

class ContextTest : public SiwTest {};

TEST_F(ContextTest, FailsWithoutLeftovers)
{
    kernel_.fail("get_context", EACCES);
    errno = 0;
    EXPECT_EQ(context_alloc(nullptr, kernel_.fd(), nullptr), nullptr);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(kernel_.count("uninit_context"), 1);
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

TEST_F(ContextTest, PdsStayWhereDeallocatingFails)
{
    kernel_.fail("alloc_pd", ENOMEM);
    errno = 0;
    EXPECT_EQ(ops().alloc_pd(&context_->context), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    kernel_.fail("dealloc_pd", EBUSY);
    EXPECT_EQ(ops().dealloc_pd(pd_), EBUSY);
}

}  // namespace
}  // namespace siw::test
