// SPDX-License-Identifier: BSD-2-Clause
// Receive WQEs, byte by byte, and what is refused.
#include "fake_kernel.hh"

namespace rxe::test {
namespace {

ibv_sge sges[5] = {
    {0x1000200030004000, 16, 0x1111}, {0x5000600070008000, 32, 0x2222}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};

class PostRecv : public RxeTest {
protected:
    PostRecv() : qp_(make_qp(IBV_QPT_RC)) {}

    /// The receive ring is made before the send ring.
    Ring ring() const { return kernel_.ring(1); }
    int post(ibv_recv_wr *wr) { return ops().post_recv(qp_, wr, &bad_recv_); }

    ibv_qp *qp_;
};

TEST_F(PostRecv, WritesAWqe)
{
    ibv_recv_wr wr = {.wr_id = 0x1122334455667788, .next = nullptr, .sg_list = sges, .num_sge = 2};
    ASSERT_EQ(post(&wr), 0);
    EXPECT_EQ(ring().producer(), 1u);
    EXPECT_EQ(words(ring().element(0), 72), words({{0, 0x55667788},
                                                   {4, 0x11223344},
                                                   {16, 48},
                                                   {20, 48},
                                                   {28, 2},
                                                   {40, 0x30004000},
                                                   {44, 0x10002000},
                                                   {48, 16},
                                                   {52, 0x1111},
                                                   {56, 0x70008000},
                                                   {60, 0x50006000},
                                                   {64, 32},
                                                   {68, 0x2222}}));
    EXPECT_EQ(kernel_.count("doorbell"), 0);
    EXPECT_EQ(kernel_.count("modify_qp"), 0);
}

TEST_F(PostRecv, WithoutBuffers)
{
    ibv_recv_wr wr = {.wr_id = 3, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    ASSERT_EQ(post(&wr), 0);
    EXPECT_EQ(words(ring().element(0), 40), words({{0, 3}}));
}

TEST_F(PostRecv, OffersAsMuchAsTheFieldCanSay)
{
    ibv_sge large[2] = {{0, 0xc0000000, 1}, {0, 0xc0000000, 1}};
    ibv_recv_wr wr = {.wr_id = 0, .next = nullptr, .sg_list = large, .num_sge = 2};
    ASSERT_EQ(post(&wr), 0);
    EXPECT_EQ(reinterpret_cast<const rxe_recv_wqe *>(ring().element(0))->dma.length, UINT32_MAX);
}

TEST_F(PostRecv, StopsAtTheFirstThatIsRefused)
{
    ibv_recv_wr last = {.wr_id = 3, .next = nullptr, .sg_list = sges, .num_sge = 1};
    ibv_recv_wr bad = {.wr_id = 2, .next = &last, .sg_list = sges, .num_sge = 5};
    ibv_recv_wr first = {.wr_id = 1, .next = &bad, .sg_list = sges, .num_sge = 4};
    EXPECT_EQ(post(&first), EINVAL);
    EXPECT_EQ(bad_recv_, &bad);
    EXPECT_EQ(ring().producer(), 1u);
    bad.num_sge = -1;
    EXPECT_EQ(post(&bad), EINVAL);
    EXPECT_EQ(ring().producer(), 1u);
}

TEST_F(PostRecv, StopsWhereTheQueueIsFull)
{
    ibv_recv_wr list[9];
    for (uint64_t i = 0; i < 9; ++i)
        list[i] = {.wr_id = i, .next = i < 8 ? &list[i + 1] : nullptr, .sg_list = sges, .num_sge = 1};
    EXPECT_EQ(post(list), ENOMEM);
    EXPECT_EQ(bad_recv_, &list[7]);
    EXPECT_EQ(ring().producer(), 7u);
    ring().buf->consumer_index = 3;
    EXPECT_EQ(post(&list[7]), 0);
    EXPECT_EQ(ring().producer(), 1u);
    EXPECT_EQ(reinterpret_cast<const rxe_recv_wqe *>(ring().element(0))->wr_id, 8u);
}

TEST_F(PostRecv, RefusesNothingAndAQpInReset)
{
    EXPECT_EQ(post(nullptr), EINVAL);
    EXPECT_EQ(bad_recv_, nullptr);
    ibv_recv_wr wr = {.wr_id = 3, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    qp_->state = IBV_QPS_RESET;
    EXPECT_EQ(post(&wr), EINVAL);
    EXPECT_EQ(bad_recv_, &wr);
    EXPECT_EQ(ring().producer(), 0u);
    qp_->state = IBV_QPS_INIT;
    EXPECT_EQ(post(&wr), 0);
}

TEST_F(PostRecv, InTheErrorStateMakesTheDriverFlush)
{
    ibv_recv_wr wr = {.wr_id = 3, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    qp_->state = IBV_QPS_ERR;
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(kernel_.count("modify_qp"), 1);
    EXPECT_EQ(kernel_.modify_qp.qp_state, IBV_QPS_ERR);
    EXPECT_EQ(ring().producer(), 1u);
}

}  // namespace
}  // namespace rxe::test
