// SPDX-License-Identifier: BSD-2-Clause
// Commands for indirection tables of receive work queues.
#include "uverbs/rwq_ind_table.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

ibv_wq first = {.handle = 0x88};
ibv_wq second = {.handle = 0x89};

void fill(ibv_wq *(&queues)[4])
{
    queues[0] = queues[3] = &first;
    queues[1] = queues[2] = &second;
}

const Command kCommands[] = {
    {"create",
     [](Channel &channel) {
         ibv_wq *queues[4];
         fill(queues);
         return rwq_ind_table_create(channel, queues, 2, kDriverData).error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL | kExtended,
            "00000000 02000000 88000000 89000000 89000000 88000000", 16, "d0d1d2d3 d4d5d6d7", 8),
     write("37000080 03000200 answer 01000100 00000000 00000000 02000000 88000000 89000000 89000000 88000000 "
           "d0d1d2d3 d4d5d6d7")},
    {"create_of_one",
     [](Channel &channel) {
         ibv_wq *queues[4];
         fill(queues);
         return rwq_ind_table_create(channel, queues, 0, {}).error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL | kExtended, "00000000 00000000 88000000 00000000", 16),
     write("37000080 02000200 answer 00000000 00000000 00000000 00000000 88000000 00000000")},
    {"destroy", [](Channel &channel) { return rwq_ind_table_destroy(channel, 0x8a).error(); },
     ioctl(UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
           {object(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, 0x8a)}),
     invoke(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL | kExtended, "00000000 8a000000"),
     write("38000080 01000000 00000000 00000000 00000000 00000000 00000000 8a000000")},
};

INSTANTIATE_TEST_SUITE_P(RwqIndTable, Commands, testing::ValuesIn(kCommands), command_name);

class RwqIndTableTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(RwqIndTableTest, HasHandleAndNumber)
{
    kernel.written = bytes("00000000 10000000 8a000000 05000000");
    ibv_wq *queues[4];
    fill(queues);
    Result<RwqIndTableInfo> table = rwq_ind_table_create(channel, queues, 2, {});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->handle, 0x8aU);
    EXPECT_EQ(table->number, 5U);
}

TEST_F(RwqIndTableTest, IsRefusedWhereTheKernelHasNoneOfThatSize)
{
    ibv_wq *queues[4];
    fill(queues);
    EXPECT_EQ(rwq_ind_table_create(channel, queues, IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE + 1, {}).error(),
              EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

}  // namespace
}  // namespace verbs::uverbs::test
