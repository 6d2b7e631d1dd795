// SPDX-License-Identifier: BSD-2-Clause
// Commands that post work requests through the kernel.
#include "uverbs/post.hh"

#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>

#include "fake_kernel.hh"

namespace verbs::uverbs::test {
namespace {

class PostTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};

    ibv_sge sges_[2] = {{.addr = 1, .length = 2, .lkey = 3}, {.addr = 4, .length = 5, .lkey = 6}};
    ibv_send_wr *bad_send_ = nullptr;
    ibv_recv_wr *bad_recv_ = nullptr;

    std::string posted(ibv_send_wr &wr, ibv_qp_type type)
    {
        EXPECT_TRUE(post_send(channel, 0x33, type, &wr, &bad_send_));
        EXPECT_EQ(bad_send_, nullptr);
        return kernel.take();
    }
};

// The command and its parts, up to the work requests.
constexpr char kNothing[] = "1c000000 08000100 answer 33000000 00000000 00000000 38000000";
constexpr char kOneSend[] = "1c000000 16000100 answer 33000000 01000000 00000000 38000000 ";

TEST_F(PostTest, OfNothingRingsTheDoorbell)
{
    EXPECT_TRUE(post_send(channel, 0x33, IBV_QPT_RC, nullptr, &bad_send_));
    EXPECT_EQ(kernel.take(), write(kNothing));
}

TEST_F(PostTest, OfASendHasItsDataBehindTheRequests)
{
    ibv_send_wr second = {.wr_id = 2, .sg_list = sges_, .num_sge = 2, .opcode = IBV_WR_SEND};
    ibv_send_wr wr = {.wr_id = 0x0102030405060708,
                      .next = &second,
                      .sg_list = sges_,
                      .num_sge = 1,
                      .opcode = IBV_WR_SEND_WITH_IMM,
                      .send_flags = IBV_SEND_SIGNALED,
                      .imm_data = 0x2a000000};
    EXPECT_EQ(posted(wr, IBV_QPT_RC),
              write("1c000000 30000100 answer 33000000 02000000 03000000 38000000 "
                    // two requests: wr_id, num_sge, opcode, send_flags, imm_data, wr
                    "08070605 04030201 01000000 03000000 02000000 0000002a "
                    "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
                    "02000000 00000000 02000000 02000000 00000000 00000000 "
                    "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
                    // three scatter/gather elements
                    "01000000 00000000 02000000 03000000 "
                    "01000000 00000000 02000000 03000000 04000000 00000000 05000000 06000000"));
}

TEST_F(PostTest, OfAWriteNamesRemoteMemory)
{
    ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
    wr.wr.rdma = {.remote_addr = 0x1122334455667788, .rkey = 0x99};
    EXPECT_EQ(posted(wr, IBV_QPT_RC),
              write(std::string(kOneSend) + "01000000 00000000 00000000 00000000 00000000 00000000 "
                                            "88776655 44332211 99000000 00000000 "
                                            "00000000 00000000 00000000 00000000"));
}

TEST_F(PostTest, OfAnAtomicNamesItsOperands)
{
    ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP};
    wr.wr.atomic = {.remote_addr = 0x1122334455667788, .compare_add = 0x10, .swap = 0x20, .rkey = 0x99};
    EXPECT_EQ(posted(wr, IBV_QPT_RC),
              write(std::string(kOneSend) + "01000000 00000000 00000000 05000000 00000000 00000000 "
                                            "88776655 44332211 10000000 00000000 "
                                            "20000000 00000000 99000000 00000000"));
}

TEST_F(PostTest, OfADatagramNamesItsDestination)
{
    ibv_ah ah = {.handle = 0x77};
    ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
    wr.wr.ud = {.ah = &ah, .remote_qpn = 0x123456, .remote_qkey = 0x11111111};
    EXPECT_EQ(posted(wr, IBV_QPT_UD),
              write(std::string(kOneSend) + "01000000 00000000 00000000 02000000 00000000 00000000 "
                                            "77000000 56341200 11111111 00000000 "
                                            "00000000 00000000 00000000 00000000"));
}

TEST_F(PostTest, OfReceives)
{
    ibv_recv_wr wr = {.wr_id = 0x0102030405060708, .sg_list = sges_, .num_sge = 2};
    EXPECT_TRUE(post_recv(channel, 0x33, &wr, &bad_recv_));
    EXPECT_EQ(kernel.take(),
              write("1d000000 14000100 answer 33000000 01000000 02000000 10000000 "
                    "08070605 04030201 02000000 00000000 "
                    "01000000 00000000 02000000 03000000 04000000 00000000 05000000 06000000"));
    EXPECT_TRUE(post_srq_recv(channel, 0x55, &wr, &bad_recv_));
    EXPECT_EQ(kernel.take(),
              write("24000000 14000100 answer 55000000 01000000 02000000 10000000 "
                    "08070605 04030201 02000000 00000000 "
                    "01000000 00000000 02000000 03000000 04000000 00000000 05000000 06000000"));
}

TEST_F(PostTest, GoesThroughTheIoctlWhereWriteIsRefused)
{
    for (int refusal : {EACCES, ENOSYS}) {
        kernel.write_error = refusal;
        EXPECT_TRUE(post_send(channel, 0x33, IBV_QPT_RC, nullptr, &bad_send_));
        EXPECT_EQ(kernel.take(),
                  write(kNothing) + invoke(IB_USER_VERBS_CMD_POST_SEND,
                                           "00000000 00000000 33000000 00000000 00000000 38000000", 4));
    }
}

TEST_F(PostTest, RefusesANegativeNumberOfElementsBeforeTheKernelIsAsked)
{
    ibv_sge many[40] = {};
    ibv_send_wr second = {.wr_id = 2, .sg_list = many, .num_sge = -38, .opcode = IBV_WR_SEND};
    ibv_send_wr first = {.wr_id = 1, .next = &second, .sg_list = many, .num_sge = 40, .opcode = IBV_WR_SEND};
    EXPECT_EQ(post_send(channel, 0x33, IBV_QPT_RC, &first, &bad_send_).error(), EINVAL);
    EXPECT_EQ(bad_send_, &second);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(PostTest, TellsWhichRequestWasBad)
{
    ibv_recv_wr third = {};
    ibv_recv_wr second = {.next = &third};
    ibv_recv_wr first = {.next = &second};
    ibv_recv_wr *requests[] = {&first, &first, &second, &third, &third};
    // On failure too the kernel writes its answer: the number of the bad request, from 1 on; none: the first.
    for (uint32_t i = 0; i < std::size(requests); ++i) {
        kernel.written = std::string(reinterpret_cast<const char *>(&i), sizeof i);
        kernel.write_error = ENOMEM;
        kernel.writes_on_failure = true;
        EXPECT_EQ(post_recv(channel, 0x33, &first, &bad_recv_).error(), ENOMEM);
        EXPECT_EQ(bad_recv_, requests[i]) << i;
    }
}

}  // namespace
}  // namespace verbs::uverbs::test
