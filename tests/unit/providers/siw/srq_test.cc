// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues: creating, posting, arming the limit.
#include "fake_kernel.hh"

namespace siw::test {
namespace {

class SrqTest : public SiwTest {
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
    ibv_sge sge[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    ibv_recv_wr wr = {.wr_id = 9, .next = nullptr, .sg_list = sge, .num_sge = 2};
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), ENOMEM);
    EXPECT_EQ(bad_recv_, &wr);
    kernel_.ring<siw_rqe>()[0].flags = 0;
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    wr.num_sge = 3;
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), EINVAL);
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
    kernel_.lacks_rings = true;
    EXPECT_EQ(create(3), nullptr);
    EXPECT_EQ(errno, EPROTO);
    EXPECT_EQ(kernel_.count("destroy_srq"), 2);
}

TEST_F(SrqTest, ModifiesAndQueries)
{
    ibv_srq *srq = create(3);
    ibv_srq_attr attr{};
    EXPECT_EQ(ops().modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
    kernel_.fail("modify_srq", EINVAL);
    EXPECT_EQ(ops().modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
    kernel_.fail("query_srq", EIO);
    EXPECT_EQ(ops().query_srq(srq, &attr), EIO);
    EXPECT_EQ(ops().destroy_srq(srq), 0);
}

TEST_F(SrqTest, StaysWhereDestroyingFails)
{
    ibv_srq *srq = create(3);
    kernel_.fail("destroy_srq", EBUSY);
    EXPECT_EQ(ops().destroy_srq(srq), EBUSY);
    ibv_recv_wr wr = {.wr_id = 9, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
    EXPECT_EQ(ops().post_srq_recv(srq, &wr, &bad_recv_), 0);
    ibv_qp *qp = make_qp(0, srq);
    ASSERT_NE(qp, nullptr);
    EXPECT_EQ(ops().post_recv(qp, &wr, &bad_recv_), EINVAL);
    EXPECT_EQ(bad_recv_, &wr);
    destroy_qps();
    EXPECT_EQ(ops().destroy_srq(srq), 0);
}

}  // namespace
}  // namespace siw::test
