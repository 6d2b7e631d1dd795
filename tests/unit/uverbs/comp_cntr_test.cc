// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion counters.
#include "uverbs/comp_cntr.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"query_caps",
     [](Channel &channel) { return comp_cntr_caps_query(channel).error(); },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS,
           {out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, 4),
            out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, 8),
            out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, 4)}),
     {},
     {}},
    {"create",
     [](Channel &channel) { return comp_cntr_create(channel, nullptr).error(); },
     ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE,
           {object(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, 0)}),
     {},
     {}},
    {"create_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return comp_cntr_create(channel, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE,
           {object(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, 0), in(0x1004, "bc0a0000"), out(0x1005, 4)}),
     {},
     {}},
    {"set",
     [](Channel &channel) {
         return comp_cntr_modify(channel, 0x5d, IB_UVERBS_COMP_CNTR_ENTRY_COMP,
                                 IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, 0x123456789)
             .error();
     },
     ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY,
           {object(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, 0x5d),
            in(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, "00000000 00000000"),
            in(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, "00000000 00000000"),
            in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, "89674523 01000000")}),
     {},
     {}},
    {"increment_errors",
     [](Channel &channel) {
         return comp_cntr_modify(channel, 0x5d, IB_UVERBS_COMP_CNTR_ENTRY_ERR,
                                 IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, 2)
             .error();
     },
     ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY,
           {object(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, 0x5d),
            in(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, "01000000 00000000"),
            in(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, "01000000 00000000"),
            in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, "02000000 00000000")}),
     {},
     {}},
    {"read_errors",
     [](Channel &channel) { return comp_cntr_read(channel, 0x5d, IB_UVERBS_COMP_CNTR_ENTRY_ERR).error(); },
     ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ,
           {object(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, 0x5d),
            in(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, "01000000 00000000"),
            out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, 8)}),
     {},
     {}},
    {"attach",
     [](Channel &channel) {
         return comp_cntr_attach(channel, 0x5d, 0x44, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE).error();
     },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR,
           {object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, 0x44),
            object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, 0x5d),
            in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, "10000000")}),
     {},
     {}},
    {"destroy",
     [](Channel &channel) { return comp_cntr_destroy(channel, 0x5d).error(); },
     ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY,
           {object(UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, 0x5d)}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(CompCntr, Commands, testing::ValuesIn(kCommands), command_name);

class CompCntrTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(CompCntrTest, HasTheKernelsHandle)
{
    kernel.new_object = 0x713;
    EXPECT_EQ(*comp_cntr_create(channel, nullptr), 0x713U);
}

TEST_F(CompCntrTest, IsRead)
{
    kernel.answers = {{UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, bytes("01000000 01000000")}};
    EXPECT_EQ(*comp_cntr_read(channel, 0x5d, IB_UVERBS_COMP_CNTR_ENTRY_COMP), 1 + (uint64_t{1} << 32));
}

TEST_F(CompCntrTest, HasCapabilities)
{
    kernel.answers = {
        {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, bytes("07000000")},
        {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, bytes("ffffffff ff000000")},
        {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, bytes("3f000000")},
    };
    Result<ibv_comp_cntr_caps> caps = comp_cntr_caps_query(channel);
    ASSERT_TRUE(caps);
    EXPECT_EQ(caps->max_counters, 7U);
    EXPECT_EQ(caps->max_value, (uint64_t{1} << 40) - 1);
    EXPECT_EQ(caps->supported_qp_attach_ops, 0x3fU);
}

}  // namespace
}  // namespace verbs::uverbs::test
