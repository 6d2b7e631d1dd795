// SPDX-License-Identifier: BSD-2-Clause
// Commands for shared receive queues.
#include "uverbs/srq.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const SrqRequest kQueue = {.user_handle = 0x1234567890,
                           .pd_handle = 0x11,
                           .max_wr = 100,
                           .max_sge = 2,
                           .srq_limit = 3,
                           .async_fd = 78};

const Command kCommands[] = {
    {"create", [](Channel &channel) { return srq_create(channel, kQueue, kDriverData).error(); },
     ioctl(
         UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE,
         {object(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0), object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0x11),
          in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"), out(UVERBS_ATTR_UHW_OUT, 8),
          in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, "90785634 12000000"),
          in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, "64000000"), in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, "02000000"),
          in(UVERBS_ATTR_CREATE_SRQ_LIMIT, "03000000"), in(UVERBS_ATTR_CREATE_SRQ_TYPE, "00000000 00000000"),
          object(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, 0x4e), out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
          out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4)}),
     invoke(IB_USER_VERBS_CMD_CREATE_SRQ,
            "00000000 00000000 90785634 12000000 11000000 64000000 02000000 03000000", 16,
            "d0d1d2d3 d4d5d6d7", 8),
     write(
         "20000000 0c000600 answer 90785634 12000000 11000000 64000000 02000000 03000000 d0d1d2d3 d4d5d6d7")},
    {"create_xrc",
     [](Channel &channel) {
         SrqRequest queue = kQueue;
         queue.type = IBV_SRQT_XRC;
         queue.xrcd_handle = 0x66;
         queue.cq_handle = 0x22;
         return srq_create(channel, queue, kDriverData).error();
     },
     ioctl(
         UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE,
         {object(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0), object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0x11),
          in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"), out(UVERBS_ATTR_UHW_OUT, 8),
          object(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, 0x66), object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0x22),
          in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, "90785634 12000000"),
          in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, "64000000"), in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, "02000000"),
          in(UVERBS_ATTR_CREATE_SRQ_LIMIT, "03000000"), in(UVERBS_ATTR_CREATE_SRQ_TYPE, "01000000 00000000"),
          object(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, 0x4e), out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
          out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4), out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4)}),
     invoke(IB_USER_VERBS_CMD_CREATE_XSRQ,
            "00000000 00000000 90785634 12000000 01000000 11000000 64000000 02000000 03000000 00000000 "
            "66000000 22000000",
            16, "d0d1d2d3 d4d5d6d7", 8),
     write("27000000 10000600 answer 90785634 12000000 01000000 11000000 64000000 02000000 03000000 00000000 "
           "66000000 22000000 d0d1d2d3 d4d5d6d7")},
    {"create_tag_matching",
     [](Channel &channel) {
         SrqRequest queue = kQueue;
         queue.type = IBV_SRQT_TM;
         queue.cq_handle = 0x22;
         queue.max_num_tags = 20;
         return srq_create(channel, queue, {}).error();
     },
     ioctl(
         UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE,
         {object(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0), object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0x11),
          object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0x22),
          in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, "90785634 12000000"),
          in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, "64000000"), in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, "02000000"),
          in(UVERBS_ATTR_CREATE_SRQ_LIMIT, "03000000"), in(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, "14000000"),
          in(UVERBS_ATTR_CREATE_SRQ_TYPE, "02000000 00000000"), object(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, 0x4e),
          out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4), out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4)}),
     invoke(IB_USER_VERBS_CMD_CREATE_XSRQ,
            "00000000 00000000 90785634 12000000 02000000 11000000 64000000 02000000 03000000 14000000 "
            "00000000 22000000",
            16),
     write("27000000 0e000400 answer 90785634 12000000 02000000 11000000 64000000 02000000 03000000 14000000 "
           "00000000 22000000")},
    {"modify",
     [](Channel &channel) {
         return srq_modify(channel, 0x55, {.max_wr = 200, .max_sge = 9, .srq_limit = 10},
                           IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, kDriverRequest)
             .error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_MODIFY_SRQ, "55000000 03000000 c8000000 0a000000", 0, "d0d1d2d3 d4d5d6d7"),
     write("21000000 08000000 55000000 03000000 c8000000 0a000000 d0d1d2d3 d4d5d6d7")},
    {"modify_limit",
     [](Channel &channel) {
         return srq_modify(channel, 0x55, {.max_wr = 200, .max_sge = 9, .srq_limit = 10}, IBV_SRQ_LIMIT, {})
             .error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_MODIFY_SRQ, "55000000 02000000 00000000 0a000000"),
     write("21000000 06000000 55000000 02000000 00000000 0a000000")},
    {"query",
     [](Channel &channel) { return srq_query(channel, 0x55, {}).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_QUERY_SRQ, "00000000 00000000 55000000 00000000", 16),
     write("22000000 06000400 answer 55000000 00000000")},
    {"destroy",
     [](Channel &channel) {
         ib_uverbs_destroy_srq_resp response;
         return srq_destroy(channel, 0x55, response).error();
     },
     ioctl(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY,
           {object(UVERBS_ATTR_DESTROY_SRQ_HANDLE, 0x55), out(UVERBS_ATTR_DESTROY_SRQ_RESP, 4)}),
     invoke(IB_USER_VERBS_CMD_DESTROY_SRQ, "00000000 00000000 55000000 00000000", 4),
     write("23000000 06000100 answer 55000000 00000000")},
};

INSTANTIATE_TEST_SUITE_P(Srq, Commands, testing::ValuesIn(kCommands), command_name);

class SrqTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(SrqTest, HasHandleAndSizes)
{
    kernel.new_object = 0x705;
    kernel.answers = {{UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, bytes("7f000000")},
                      {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, bytes("04000000")},
                      {UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, bytes("09000000")}};
    SrqRequest queue = kQueue;
    queue.type = IBV_SRQT_XRC;
    queue.xrcd_handle = 0x66;
    queue.cq_handle = 0x22;
    Result<SrqInfo> srq = srq_create(channel, queue, {});
    ASSERT_TRUE(srq);
    EXPECT_EQ(srq->handle, 0x705U);
    EXPECT_EQ(srq->max_wr, 127U);
    EXPECT_EQ(srq->max_sge, 4U);
    EXPECT_EQ(srq->srq_num, 9U);
}

TEST_F(SrqTest, HasHandleAndSizesOfAWriteCommand)
{
    kernel.no_methods = true;
    kernel.written = bytes("55000000 7f000000 04000000 09000000");
    SrqRequest queue = kQueue;
    queue.type = IBV_SRQT_XRC;
    Result<SrqInfo> srq = srq_create(channel, queue, {});
    ASSERT_TRUE(srq);
    EXPECT_EQ(srq->handle, 0x55U);
    EXPECT_EQ(srq->max_wr, 127U);
    EXPECT_EQ(srq->max_sge, 4U);
    EXPECT_EQ(srq->srq_num, 9U);
}

TEST_F(SrqTest, TellsItsAttributes)
{
    kernel.written = bytes("7f000000 04000000 0a000000");
    Result<ibv_srq_attr> attr = srq_query(channel, 0x55, {});
    ASSERT_TRUE(attr);
    EXPECT_EQ(attr->max_wr, 127U);
    EXPECT_EQ(attr->max_sge, 4U);
    EXPECT_EQ(attr->srq_limit, 10U);
}

TEST_F(SrqTest, CountsEventsWhenItIsDestroyed)
{
    kernel.answers = {{UVERBS_ATTR_DESTROY_SRQ_RESP, bytes("03000000")}};
    ib_uverbs_destroy_srq_resp response;
    ASSERT_TRUE(srq_destroy(channel, 0x55, response));
    EXPECT_EQ(response.events_reported, 3U);
}

}  // namespace
}  // namespace verbs::uverbs::test
