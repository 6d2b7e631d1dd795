// SPDX-License-Identifier: BSD-2-Clause
// Creating and destroying QPs: what is refused, and what is left where it fails.
#include "siw/qp.hh"

#include "fake_kernel.hh"

namespace siw::test {
namespace {

class QpTest : public SiwTest {};

TEST_F(QpTest, ExtendedOnesSaySo)
{
    ibv_qp *plain = make_qp();
    ASSERT_NE(plain, nullptr);
    EXPECT_EQ(to_qp(plain)->verbs.comp_mask & VERBS_QP_EX, 0u);
    ibv_qp *extended = make_qp(IBV_QP_EX_WITH_SEND);
    ASSERT_NE(extended, nullptr);
    EXPECT_NE(to_qp(extended)->verbs.comp_mask & VERBS_QP_EX, 0u);
    EXPECT_NE(to_qp(extended)->verbs.qp_ex.wr_start, nullptr);
}

TEST_F(QpTest, OffersTheOperationsOfIwarp)
{
    const uint64_t offered = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ |
                             IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV;
    EXPECT_NE(make_qp(offered), nullptr);
    for (int bit = 0; bit < 64; ++bit) {
        if ((offered >> bit & 1) != 0)
            continue;
        errno = 0;
        EXPECT_EQ(make_qp(uint64_t{1} << bit), nullptr) << bit;
        EXPECT_EQ(errno, EOPNOTSUPP);
    }
}

TEST_F(QpTest, RefusesWhatSiwHasNot)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = IBV_QPT_RC;
    attr.pd = pd_;
    for (uint32_t bit = 1; bit < 12; ++bit) {
        const uint32_t mask = 1U << bit;
        if (mask == IBV_QP_INIT_ATTR_SEND_OPS_FLAGS || mask == IBV_QP_INIT_ATTR_CREATE_FLAGS)
            continue;
        attr.comp_mask = IBV_QP_INIT_ATTR_PD | mask;
        errno = 0;
        EXPECT_EQ(ops().create_qp_ex(&context_->context, &attr), nullptr) << mask;
        EXPECT_EQ(errno, EOPNOTSUPP);
    }
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
    EXPECT_EQ(ops().create_qp_ex(&context_->context, &attr), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    attr.comp_mask = 0;
    errno = 0;
    EXPECT_EQ(ops().create_qp_ex(&context_->context, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(kernel_.count("create_qp"), 0);
}

TEST_F(QpTest, TakesNoFlagsForFlags)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.cap = {1, 1, 1, 1, 0};
    attr.qp_type = IBV_QPT_RC;
    attr.pd = pd_;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    ibv_qp *qp = ops().create_qp_ex(&context_->context, &attr);
    ASSERT_NE(qp, nullptr);
    qps_.push_back(qp);
    EXPECT_EQ(attr.comp_mask, uint32_t{IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS});
}

TEST_F(QpTest, FailsWithoutLeftovers)
{
    kernel_.fail("create_qp", EOPNOTSUPP);
    errno = 0;
    EXPECT_EQ(make_qp(), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    kernel_.breaks_mmap = true;
    EXPECT_EQ(make_qp(), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(kernel_.count("destroy_qp"), 1);
    kernel_.lacks_rings = true;
    EXPECT_EQ(make_qp(), nullptr);
    EXPECT_EQ(errno, EPROTO);
    EXPECT_EQ(kernel_.count("destroy_qp"), 2);
}

TEST_F(QpTest, StaysWhereDestroyingFails)
{
    ibv_qp *qp = make_qp();
    kernel_.fail("destroy_qp", EBUSY);
    EXPECT_EQ(ops().destroy_qp(qp), EBUSY);
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    EXPECT_EQ(post_send(qp, &wr), 0);
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    kernel_.fail("modify_qp", EINVAL);
    EXPECT_EQ(ops().modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    kernel_.fail("query_qp", EIO);
    EXPECT_EQ(ops().query_qp(qp, &attr, IBV_QP_STATE, &init), EIO);
}

}  // namespace
}  // namespace siw::test
