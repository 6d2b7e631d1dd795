// SPDX-License-Identifier: BSD-2-Clause
// Commands for work queues.
#include "uverbs/wq.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const WqRequest kQueue = {.user_handle = 0x1234567890,
                          .type = IBV_WQT_RQ,
                          .pd_handle = 0x11,
                          .cq_handle = 0x22,
                          .max_wr = 64,
                          .max_sge = 4,
                          .flags = IBV_WQ_FLAGS_SCATTER_FCS,
                          .async_fd = 78};

const Command kCommands[] = {
    {"create", [](Channel &channel) { return wq_create(channel, kQueue, kDriverData).error(); },
     ioctl(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE,
           {object(UVERBS_ATTR_CREATE_WQ_HANDLE, 0), object(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 0x11),
            in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"), out(UVERBS_ATTR_UHW_OUT, 8),
            object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 0x22),
            in(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_WQ_TYPE, "00000000 00000000"), object(UVERBS_ATTR_CREATE_WQ_EVENT_FD, 0x4e),
            in(UVERBS_ATTR_CREATE_WQ_MAX_WR, "40000000"), in(UVERBS_ATTR_CREATE_WQ_MAX_SGE, "04000000"),
            in(UVERBS_ATTR_CREATE_WQ_FLAGS, "02000000"), out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4),
            out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4), out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4)}),
     invoke(IB_USER_VERBS_EX_CMD_CREATE_WQ | kExtended,
            "00000000 00000000 90785634 12000000 11000000 22000000 40000000 04000000 02000000 00000000", 24,
            "d0d1d2d3 d4d5d6d7", 8),
     write("34000080 05000300 answer 01000100 00000000 00000000 00000000 90785634 12000000 11000000 22000000 "
           "40000000 04000000 02000000 00000000 d0d1d2d3 d4d5d6d7")},
    {"modify",
     [](Channel &channel) {
         return wq_modify(channel, 0x88,
                          {.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS,
                           .wq_state = IBV_WQS_RDY,
                           .curr_wq_state = IBV_WQS_ERR,
                           .flags = 3,
                           .flags_mask = 4},
                          kDriverRequest)
             .error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_MODIFY_WQ | kExtended,
            "07000000 88000000 01000000 02000000 03000000 04000000", 0, "d0d1d2d3 d4d5d6d7"),
     write("35000080 03000000 00000000 00000000 01000000 00000000 07000000 88000000 01000000 02000000 "
           "03000000 04000000 d0d1d2d3 d4d5d6d7")},
    {"modify_state",
     [](Channel &channel) {
         return wq_modify(channel, 0x88,
                          {.attr_mask = IBV_WQ_ATTR_STATE,
                           .wq_state = IBV_WQS_RDY,
                           .curr_wq_state = IBV_WQS_ERR,
                           .flags = 3,
                           .flags_mask = 4},
                          {})
             .error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_MODIFY_WQ | kExtended,
            "01000000 88000000 01000000 00000000 00000000 00000000"),
     write("35000080 03000000 00000000 00000000 00000000 00000000 01000000 88000000 01000000 00000000 "
           "00000000 00000000")},
    {"destroy",
     [](Channel &channel) {
         uint32_t events;
         return wq_destroy(channel, 0x88, events).error();
     },
     ioctl(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY,
           {object(UVERBS_ATTR_DESTROY_WQ_HANDLE, 0x88), out(UVERBS_ATTR_DESTROY_WQ_RESP, 4)}),
     invoke(IB_USER_VERBS_EX_CMD_DESTROY_WQ | kExtended, "00000000 88000000", 16),
     write("36000080 01000200 answer 00000000 00000000 00000000 88000000")},
};

INSTANTIATE_TEST_SUITE_P(Wq, Commands, testing::ValuesIn(kCommands), command_name);

class WqTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(WqTest, HasHandleNumberAndSizes)
{
    kernel.new_object = 0x70c;
    kernel.answers = {{UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, bytes("7f000000")},
                      {UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, bytes("04000000")},
                      {UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, bytes("09000000")}};
    Result<WqInfo> wq = wq_create(channel, kQueue, {});
    ASSERT_TRUE(wq);
    EXPECT_EQ(wq->handle, 0x70cU);
    EXPECT_EQ(wq->wq_num, 9U);
    EXPECT_EQ(wq->max_wr, 127U);
    EXPECT_EQ(wq->max_sge, 4U);
}

TEST_F(WqTest, HasHandleNumberAndSizesOfAWriteCommand)
{
    kernel.no_methods = true;
    kernel.written = bytes("00000000 18000000 88000000 7f000000 04000000 09000000");
    Result<WqInfo> wq = wq_create(channel, kQueue, {});
    ASSERT_TRUE(wq);
    EXPECT_EQ(wq->handle, 0x88U);
    EXPECT_EQ(wq->wq_num, 9U);
    EXPECT_EQ(wq->max_wr, 127U);
    EXPECT_EQ(wq->max_sge, 4U);
}

TEST_F(WqTest, CountsEventsWhenItIsDestroyed)
{
    kernel.answers = {{UVERBS_ATTR_DESTROY_WQ_RESP, bytes("03000000")}};
    uint32_t events;
    ASSERT_TRUE(wq_destroy(channel, 0x88, events));
    EXPECT_EQ(events, 3U);

    kernel.no_methods = true;
    kernel.written = bytes("00000000 10000000 04000000 00000000");
    Channel older{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
    ASSERT_TRUE(wq_destroy(older, 0x88, events));
    EXPECT_EQ(events, 4U);
}

}  // namespace
}  // namespace verbs::uverbs::test
