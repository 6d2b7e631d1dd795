// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues: creating, resizing, posting.
#include "rxe/srq.hh"
#include "fake_kernel.hh"

namespace rxe::test {
namespace {

class SrqTest : public RxeTest {
protected:
    ibv_srq *create(uint32_t max_wr)
    {
        ibv_srq_init_attr attr{};
        attr.attr = {.max_wr = max_wr, .max_sge = 2, .srq_limit = 0};
        return ops().create_srq(pd_, &attr);
    }
};

TEST_F(SrqTest, PostsUntilItIsFull)
{
    ibv_srq *srq = create(3);
    ASSERT_NE(srq, nullptr);
    EXPECT_EQ(to_srq(srq)->verbs.srq_num, 0x20001u);
    ibv_sge sge[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    ibv_recv_wr wr = {.wr_id = 9, .next = nullptr, .sg_list = sge, .num_sge = 2};
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), ENOMEM);
    EXPECT_EQ(bad_recv_, &wr);
    wr.num_sge = 3;
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), EINVAL);
    EXPECT_EQ(kernel_.ring().producer(), 3u);
    EXPECT_EQ(ops().destroy_srq(srq), 0);
}

TEST_F(SrqTest, ResizesIntoTheRingThatTheDriverNames)
{
    ibv_srq *srq = create(3);
    ibv_srq_attr attr = {.max_wr = 15, .max_sge = 0, .srq_limit = 0};
    ASSERT_EQ(ops().modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
    EXPECT_NE(kernel_.modify_srq.mmap_info_addr, 0u);
    EXPECT_EQ(to_srq(srq)->rq.ring.mask(), 15u);
    ibv_recv_wr wr = {.wr_id = 9, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    EXPECT_EQ(kernel_.ring().producer(), 1u);

    EXPECT_EQ(ops().modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
    EXPECT_EQ(to_srq(srq)->rq.ring.mask(), 15u);
    kernel_.fail("modify_srq", EINVAL);
    EXPECT_EQ(ops().modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    EXPECT_EQ(ops().destroy_srq(srq), 0);
}

TEST_F(SrqTest, FailsWithoutLeftovers)
{
    kernel_.fail("create_srq", EPERM);
    errno = 0;
    EXPECT_EQ(create(3), nullptr);
    EXPECT_EQ(errno, EPERM);
    kernel_.breaks_mmap = true;
    EXPECT_EQ(create(3), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(kernel_.count("destroy_srq"), 1);
}

TEST_F(SrqTest, IsOutOfUseButSafeWhereItsNewRingCannotBeMapped)
{
    ibv_srq *srq = create(3);
    ASSERT_NE(srq, nullptr);
    ibv_srq_attr attr = {.max_wr = 7, .max_sge = 0, .srq_limit = 0};
    kernel_.failing_mmaps = 2;
    EXPECT_EQ(ops().modify_srq(srq, &attr, IBV_SRQ_MAX_WR), ENOMEM);
    EXPECT_NE(kernel_.logged.find("the SRQ was resized"), std::string::npos) << kernel_.logged;
    ibv_recv_wr wr = {.wr_id = 9, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), ENOMEM);
    EXPECT_EQ(bad_recv_, &wr);
    EXPECT_EQ(ops().destroy_srq(srq), 0);
}

TEST_F(SrqTest, StaysWhereDestroyingFails)
{
    ibv_srq *srq = create(3);
    kernel_.fail("destroy_srq", EBUSY);
    EXPECT_EQ(ops().destroy_srq(srq), EBUSY);
    ibv_recv_wr wr = {.wr_id = 9, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    ibv_qp *qp = make_qp(IBV_QPT_RC, 0, srq);
    ASSERT_NE(qp, nullptr);
    EXPECT_EQ(ops().post_recv(qp, &wr, &bad_recv_), EINVAL);
    EXPECT_EQ(bad_recv_, &wr);
    destroy_qps();
    EXPECT_EQ(ops().destroy_srq(srq), 0);
}

}  // namespace
}  // namespace rxe::test
