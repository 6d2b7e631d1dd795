// SPDX-License-Identifier: BSD-2-Clause
// Commands that have more in them than a command can have.
#include "uverbs/attributes.hh"

#include <gtest/gtest.h>

#include <vector>

#include "fake_kernel.hh"
#include "uverbs/context.hh"
#include "uverbs/mr.hh"
#include "uverbs/qp.hh"

namespace verbs::uverbs::test {
namespace {

class AttributesTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(AttributesTest, RefuseMoreThanTheirCapacity)
{
    uint32_t value = 1;
    Attributes<2> attributes({UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY});
    attributes.in(0, value).in(1, value).in(2, value).in(3, value).optional();
    EXPECT_EQ(attributes.issue(channel).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(AttributesTest, RefuseLengthsThatTheirFieldCannotHold)
{
    std::vector<char> bytes(UINT16_MAX + 1);
    Attributes<1> attributes({UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY});
    EXPECT_EQ(attributes.in_bytes(0, bytes.data(), bytes.size()).issue(channel).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
    std::vector<ibv_sge> sges(
        4097);  // one more than 16 bits of bytes: cut, the kernel would see a single one
    EXPECT_EQ(mr_advise(channel, 1, 0, 0, sges).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(AttributesTest, HoldEveryPartThatAQueuePairCanHave)
{
    char driver[64] = {};
    QpRequest request = {.user_handle = 1,
                         .type = IBV_QPT_RC,
                         .cap = {},
                         .signal_all = true,
                         .create_flags = IBV_QP_CREATE_SOURCE_QPN,
                         .source_qpn = 2,
                         .pd_handle = 1,
                         .xrcd_handle = 2,
                         .send_cq_handle = 3,
                         .recv_cq_handle = 4,
                         .srq_handle = 5,
                         .ind_table_handle = 6,
                         .async_fd = 7};
    kernel.new_object = 0x99;
    Result<QpInfo> made = qp_create(channel, request, {driver, sizeof driver, driver, sizeof driver});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->handle, 0x99U);
}

TEST_F(AttributesTest, GiveRoomForTheWholeGidTableWhereTheProgramHasMore)
{
    std::vector<ib_uverbs_gid_entry> entries(5000);
    Result<size_t> count = gid_table_query(channel, 0, entries.data(), entries.size());
    ASSERT_TRUE(count);
    EXPECT_NE(kernel.take().find(out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 2047 * sizeof entries[0])),
              std::string::npos);
}

}  // namespace
}  // namespace verbs::uverbs::test
