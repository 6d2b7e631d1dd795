// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion queues.
#include "uverbs/cq.hh"

#include <endian.h>

#include <vector>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const CqRequest kQueue = {.user_handle = 0x1234567890,
                          .cqe = 100,
                          .comp_channel_fd = -1,
                          .comp_vector = 2,
                          .flags = 0,
                          .async_fd = 78};

const Command kCommands[] = {
    {"create", [](Channel &channel) { return cq_create(channel, kQueue, kDriverData).error(); },
     ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
           {object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0), in(UVERBS_ATTR_CREATE_CQ_CQE, "64000000"),
            in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"), out(UVERBS_ATTR_UHW_OUT, 8),
            in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "02000000"), out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
            optional(object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0x4e))}),
     invoke(IB_USER_VERBS_CMD_CREATE_CQ,
            "00000000 00000000 90785634 12000000 64000000 02000000 ffffffff 00000000", 8, "d0d1d2d3 d4d5d6d7",
            8),
     write(
         "12000000 0c000400 answer 90785634 12000000 64000000 02000000 ffffffff 00000000 d0d1d2d3 d4d5d6d7")},
    {"create_with_channel",
     [](Channel &channel) {
         CqRequest queue = kQueue;
         queue.comp_channel_fd = 8;
         return cq_create(channel, queue, {}).error();
     },
     ioctl(
         UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
         {object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0), in(UVERBS_ATTR_CREATE_CQ_CQE, "64000000"),
          in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "90785634 12000000"),
          object(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0x8), in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "02000000"),
          out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4), optional(object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0x4e))}),
     invoke(IB_USER_VERBS_CMD_CREATE_CQ,
            "00000000 00000000 90785634 12000000 64000000 02000000 08000000 00000000", 8),
     write("12000000 0a000200 answer 90785634 12000000 64000000 02000000 08000000 00000000")},
    {"create_with_flags",
     [](Channel &channel) {
         CqRequest queue = kQueue;
         queue.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
         return cq_create(channel, queue, kDriverData).error();
     },
     ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
           {object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0), in(UVERBS_ATTR_CREATE_CQ_CQE, "64000000"),
            in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"), out(UVERBS_ATTR_UHW_OUT, 8),
            in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "02000000"), in(UVERBS_ATTR_CREATE_CQ_FLAGS, "03000000"),
            out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4), optional(object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0x4e))}),
     invoke(IB_USER_VERBS_EX_CMD_CREATE_CQ | kExtended,
            "90785634 12000000 64000000 02000000 ffffffff 00000000 03000000 00000000", 16,
            "d0d1d2d3 d4d5d6d7", 8),
     write("12000080 04000200 answer 01000100 00000000 90785634 12000000 64000000 02000000 ffffffff 00000000 "
           "03000000 00000000 d0d1d2d3 d4d5d6d7")},
    {"create_that_can_lose_timestamps",
     [](Channel &channel) {
         CqRequest queue = kQueue;
         queue.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
         queue.can_lose_timestamps = true;
         return cq_create(channel, queue, {}).error();
     },
     ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
           {object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0), in(UVERBS_ATTR_CREATE_CQ_CQE, "64000000"),
            in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "02000000"), in(UVERBS_ATTR_CREATE_CQ_FLAGS, "01000000"),
            out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4), optional(object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0x4e))}),
     invoke(IB_USER_VERBS_CMD_CREATE_CQ,
            "00000000 00000000 90785634 12000000 64000000 02000000 ffffffff 00000000", 8),
     write("12000000 0a000200 answer 90785634 12000000 64000000 02000000 ffffffff 00000000")},
    {"create_with_memory",
     [](Channel &channel) {
         CqRequest queue = kQueue;
         queue.buffer = {.length = 0x2000, .address = reinterpret_cast<void *>(0x7000000000)};
         return cq_create(channel, queue, {}).error();
     },
     ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
           {object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0), in(UVERBS_ATTR_CREATE_CQ_CQE, "64000000"),
            in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "02000000"),
            in(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, "00000000 70000000"),
            in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, "00200000 00000000"),
            out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4), optional(object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0x4e))}),
     {},
     {}},
    {"create_with_dmabuf_and_driver",
     [](Channel &channel) {
         CqRequest queue = kQueue;
         queue.buffer = {.length = 0x2000, .address = nullptr, .dmabuf_fd = 9, .dmabuf_offset = 0x1000};
         DriverAttributes driver;
         return cq_create(channel, queue, {}, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
           {object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0), in(UVERBS_ATTR_CREATE_CQ_CQE, "64000000"),
            in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, "02000000"), object(UVERBS_ATTR_CREATE_CQ_BUFFER_FD, 9),
            in(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, "00100000 00000000"),
            in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, "00200000 00000000"), in(0x1004, "bc0a0000"),
            out(0x1005, 4), out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
            optional(object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0x4e))}),
     {},
     {}},
    {"resize",
     [](Channel &channel) { return cq_resize(channel, 0x22, 200, kDriverData).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_RESIZE_CQ, "00000000 00000000 22000000 c8000000", 8, "d0d1d2d3 d4d5d6d7", 8),
     write("13000000 08000400 answer 22000000 c8000000 d0d1d2d3 d4d5d6d7")},
    {"modify",
     [](Channel &channel) {
         return cq_modify(channel, 0x22,
                          {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {.cq_count = 7, .cq_period = 9}},
                          {})
             .error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_MODIFY_CQ | kExtended, "22000000 01000000 07000900 00000000"),
     write("39000080 02000000 00000000 00000000 00000000 00000000 22000000 01000000 07000900 00000000")},
    {"modify_nothing",
     [](Channel &channel) {
         return cq_modify(channel, 0x22, {.attr_mask = 0, .moderate = {.cq_count = 7, .cq_period = 9}},
                          kDriverRequest)
             .error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_MODIFY_CQ | kExtended, "22000000 00000000 00000000 00000000", 0,
            "d0d1d2d3 d4d5d6d7"),
     write("39000080 02000000 00000000 00000000 01000000 00000000 22000000 00000000 00000000 00000000 "
           "d0d1d2d3 d4d5d6d7")},
    {"request_notification",
     [](Channel &channel) { return cq_request_notification(channel, 0x22, true).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, "22000000 01000000"),
     write("17000000 04000000 22000000 01000000")},
    {"destroy",
     [](Channel &channel) {
         ib_uverbs_destroy_cq_resp response;
         return cq_destroy(channel, 0x22, response).error();
     },
     ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
           {object(UVERBS_ATTR_DESTROY_CQ_HANDLE, 0x22), out(UVERBS_ATTR_DESTROY_CQ_RESP, 8)}),
     invoke(IB_USER_VERBS_CMD_DESTROY_CQ, "00000000 00000000 22000000 00000000", 8),
     write("14000000 06000200 answer 22000000 00000000")},
};

INSTANTIATE_TEST_SUITE_P(Cq, Commands, testing::ValuesIn(kCommands), command_name);

class CqTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(CqTest, HasHandleAndSize)
{
    kernel.new_object = 0x703;
    kernel.answers = {{UVERBS_ATTR_CREATE_CQ_RESP_CQE, bytes("7f000000")}};
    Result<CqInfo> cq = cq_create(channel, kQueue, {});
    ASSERT_TRUE(cq);
    EXPECT_EQ(cq->handle, 0x703U);
    EXPECT_EQ(cq->cqe, 127U);
}

TEST_F(CqTest, HasHandleAndSizeOfAWriteCommand)
{
    kernel.no_methods = true;
    kernel.written = bytes("05000000 7f000000");
    Result<CqInfo> cq = cq_create(channel, kQueue, {});
    ASSERT_TRUE(cq);
    EXPECT_EQ(cq->handle, 5U);
    EXPECT_EQ(cq->cqe, 127U);
}

TEST_F(CqTest, ReportsItsSizeAfterAResize)
{
    kernel.written = bytes("ff000000");
    EXPECT_EQ(*cq_resize(channel, 0x22, 200, {}), 255U);
}

TEST_F(CqTest, CountsEventsWhenItIsDestroyed)
{
    kernel.answers = {{UVERBS_ATTR_DESTROY_CQ_RESP, bytes("03000000 04000000")}};
    ib_uverbs_destroy_cq_resp response;
    ASSERT_TRUE(cq_destroy(channel, 0x22, response));
    EXPECT_EQ(response.comp_events_reported, 3U);
    EXPECT_EQ(response.async_events_reported, 4U);
}

TEST_F(CqTest, IsPolledByWriteWhichCostsLess)
{
    kernel.written = bytes(
        "01000000 00000000"
        "08070605 04030201 05000000 80000000 12000000 00100000 0000002a 33000000 44000000 02000000 0100 0200 "
        "03 04 01 00");
    ibv_wc wc[2] = {};
    Result<size_t> count = cq_poll(channel, 0x22, wc);
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, 1U);
    EXPECT_EQ(kernel.take(), write("15000000 06001a00 answer 22000000 02000000"));
    EXPECT_EQ(wc[0].wr_id, 0x0102030405060708U);
    EXPECT_EQ(wc[0].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc[0].opcode, IBV_WC_RECV);
    EXPECT_EQ(wc[0].vendor_err, 0x12U);
    EXPECT_EQ(wc[0].byte_len, 4096U);
    EXPECT_EQ(wc[0].imm_data, htobe32(0x2a));
    EXPECT_EQ(wc[0].qp_num, 0x33U);
    EXPECT_EQ(wc[0].src_qp, 0x44U);
    EXPECT_EQ(wc[0].wc_flags, unsigned{IBV_WC_WITH_IMM});
    EXPECT_EQ(wc[0].pkey_index, 1U);
    EXPECT_EQ(wc[0].slid, 2U);
    EXPECT_EQ(wc[0].sl, 3U);
    EXPECT_EQ(wc[0].dlid_path_bits, 4U);
}

TEST_F(CqTest, IsPolledForMoreThanOneCommandCanCarry)
{
    std::vector<ibv_wc> wc(6000);
    Result<size_t> count = cq_poll(channel, 0x22, wc);
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, 0U);
    EXPECT_EQ(kernel.take(), write("15000000 0600fe3f answer 22000000 55050000"));  // 1365

    // A full piece is not the end: the next one asks for the rest.
    kernel.written = bytes("55050000 00000000");
    EXPECT_EQ(*cq_poll(channel, 0x22, std::span(wc).first(1366)), 1365U);
    EXPECT_EQ(kernel.take(), write("15000000 0600fe3f answer 22000000 55050000") +
                                 write("15000000 06000e00 answer 22000000 01000000"));
}

TEST_F(CqTest, DoesNotTrustACountAboveWhatWasAskedFor)
{
    kernel.written = bytes("03000000 00000000");
    ibv_wc wc[2];
    EXPECT_EQ(cq_poll(channel, 0x22, wc).error(), EIO);
}

}  // namespace
}  // namespace verbs::uverbs::test
