// SPDX-License-Identifier: BSD-2-Clause
// Receive queue elements, byte by byte, and what is refused.
#include "fake_kernel.hh"

namespace siw::test {
namespace {

ibv_sge sges[5] = {
    {0x1000200030004000, 16, 0x1111}, {0x5000600070008000, 32, 0x2222}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};

class PostRecv : public SiwTest {
protected:
    PostRecv() : qp_(make_qp()) {}

    siw_rqe *ring() const { return kernel_.ring<siw_rqe>(); }
    int post(ibv_recv_wr *wr) { return ops().post_recv(qp_, wr, &bad_recv_); }
    int posted() const
    {
        int count = 0;
        for (int i = 0; i < 8; ++i)
            count += (ring()[i].flags & SIW_WQE_VALID) != 0;
        return count;
    }

    ibv_qp *qp_;
};

TEST_F(PostRecv, WritesAnElement)
{
    ibv_recv_wr wr = {.wr_id = 0x1122334455667788, .next = nullptr, .sg_list = sges, .num_sge = 2};
    ASSERT_EQ(post(&wr), 0);
    EXPECT_EQ(words(ring(), 2 * sizeof(siw_rqe)), words({{0, 0x55667788},
                                                         {4, 0x11223344},
                                                         {8, 0x08020001},  // opcode, num_sge, flags
                                                         {16, 0x30004000},
                                                         {20, 0x10002000},
                                                         {24, 16},
                                                         {28, 0x1111},
                                                         {32, 0x70008000},
                                                         {36, 0x50006000},
                                                         {40, 32},
                                                         {44, 0x2222}}));
    EXPECT_EQ(kernel_.count("doorbell"), 0);
}

TEST_F(PostRecv, WithoutBuffers)
{
    ibv_recv_wr wr = {.wr_id = 3, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    ASSERT_EQ(post(&wr), 0);
    EXPECT_EQ(words(ring(), 16), words({{0, 3}, {8, 0x08000001}}));
}

TEST_F(PostRecv, StopsAtTheFirstThatIsRefused)
{
    ibv_recv_wr last = {.wr_id = 3, .next = nullptr, .sg_list = sges, .num_sge = 1};
    ibv_recv_wr bad = {.wr_id = 2, .next = &last, .sg_list = sges, .num_sge = 5};
    ibv_recv_wr first = {.wr_id = 1, .next = &bad, .sg_list = sges, .num_sge = 4};
    EXPECT_EQ(post(&first), EINVAL);
    EXPECT_EQ(bad_recv_, &bad);
    EXPECT_EQ(posted(), 1);
    bad.num_sge = -1;
    EXPECT_EQ(post(&bad), EINVAL);
    EXPECT_EQ(posted(), 1);
}

TEST_F(PostRecv, StopsWhereTheQueueIsFull)
{
    ibv_recv_wr list[10];
    for (uint64_t i = 0; i < 10; ++i)
        list[i] = {.wr_id = i, .next = i < 9 ? &list[i + 1] : nullptr, .sg_list = sges, .num_sge = 1};
    EXPECT_EQ(post(list), ENOMEM);
    EXPECT_EQ(bad_recv_, &list[8]);
    EXPECT_EQ(posted(), 8);
    ring()[0].flags = ring()[1].flags = 0;
    EXPECT_EQ(post(&list[8]), 0);
    EXPECT_EQ(ring()[0].id, 8u);
    EXPECT_EQ(ring()[1].id, 9u);
}

TEST_F(PostRecv, RefusesNothing)
{
    EXPECT_EQ(post(nullptr), EINVAL);
    EXPECT_EQ(bad_recv_, nullptr);
}

}  // namespace
}  // namespace siw::test
