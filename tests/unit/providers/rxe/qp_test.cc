// SPDX-License-Identifier: BSD-2-Clause
// Creating and destroying QPs: what is refused, and what is left where it fails.
#include "rxe/qp.hh"
#include "fake_kernel.hh"

namespace rxe::test {
namespace {

class QpTest : public RxeTest {};

TEST_F(QpTest, PlainOnesTellTheirCapabilities)
{
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.cap = {5, 6, 2, 3, 20};
    attr.qp_type = IBV_QPT_RC;
    ibv_qp *qp = ops().create_qp(pd_, &attr);
    ASSERT_NE(qp, nullptr);
    qps_.push_back(qp);
    EXPECT_EQ(attr.cap.max_send_wr, 7u);
    EXPECT_EQ(attr.cap.max_recv_wr, 7u);
    EXPECT_EQ(attr.cap.max_inline_data, 32u);
    EXPECT_EQ(to_qp(qp)->sq.max_inline, 32u);
    EXPECT_EQ(to_qp(qp)->rq.max_sge, 3u);
    EXPECT_EQ(to_qp(qp)->verbs.comp_mask & VERBS_QP_EX, 0u);
}

TEST_F(QpTest, ExtendedOnesSaySo)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
    ASSERT_NE(qp, nullptr);
    EXPECT_NE(to_qp(qp)->verbs.comp_mask & VERBS_QP_EX, 0u);
    EXPECT_NE(to_qp(qp)->verbs.qp_ex.wr_start, nullptr);
}

TEST_F(QpTest, OffersTheOperationsOfEachType)
{
    const uint64_t newer = IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;
    EXPECT_NE(make_qp(IBV_QPT_RC, 0x3ff), nullptr);
    EXPECT_NE(make_qp(IBV_QPT_UC, 0x30f), nullptr);
    EXPECT_NE(make_qp(IBV_QPT_UD, 0xc), nullptr);
    for (const auto &[type, offered] :
         {std::pair{IBV_QPT_RC, 0x3ffU}, {IBV_QPT_UC, 0x30fU}, {IBV_QPT_UD, 0xcU}}) {
        for (int bit = 0; bit < 64; ++bit) {
            if ((uint64_t{offered} >> bit & 1) != 0)
                continue;
            errno = 0;
            EXPECT_EQ(make_qp(type, uint64_t{1} << bit), nullptr) << type << " " << bit;
            EXPECT_EQ(errno, EOPNOTSUPP);
        }
    }
    kernel_.capabilities = IB_UVERBS_DEVICE_FLUSH_GLOBAL | IB_UVERBS_DEVICE_ATOMIC_WRITE;
    reopen();
    EXPECT_NE(make_qp(IBV_QPT_RC, 0x3ff | newer), nullptr);
    EXPECT_EQ(make_qp(IBV_QPT_UC, IBV_QP_EX_WITH_FLUSH), nullptr);
}

TEST_F(QpTest, RefusesWhatRxeHasNot)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = IBV_QPT_RC;
    attr.pd = pd_;
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
    attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
    for (uint32_t bit = 1; bit < 12; ++bit) {
        const uint32_t mask = 1U << bit;
        if (mask == IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
            continue;
        attr.comp_mask = IBV_QP_INIT_ATTR_PD | mask;
        errno = 0;
        EXPECT_EQ(ops().create_qp_ex(&context_->context, &attr), nullptr) << mask;
        EXPECT_EQ(errno, EOPNOTSUPP);
    }
    attr.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    errno = 0;
    EXPECT_EQ(ops().create_qp_ex(&context_->context, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(kernel_.count("create_qp"), 0);
}

TEST_F(QpTest, NoCreateFlagsAreNoDemand)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = IBV_QPT_RC;
    attr.pd = pd_;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    ibv_qp *qp = ops().create_qp_ex(&context_->context, &attr);
    ASSERT_NE(qp, nullptr);
    EXPECT_EQ(attr.comp_mask, uint32_t{IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS});
    EXPECT_EQ(ops().destroy_qp(qp), 0);
}

TEST_F(QpTest, FailsWithoutLeftovers)
{
    kernel_.fail("create_qp", EPERM);
    errno = 0;
    EXPECT_EQ(make_qp(IBV_QPT_RC), nullptr);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(kernel_.count("destroy_qp"), 0);
    kernel_.breaks_mmap = true;
    EXPECT_EQ(make_qp(IBV_QPT_RC), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(kernel_.count("destroy_qp"), 1);
}

TEST_F(QpTest, StaysWhereDestroyingFails)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    kernel_.fail("destroy_qp", EBUSY);
    EXPECT_EQ(ops().destroy_qp(qp), EBUSY);
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    EXPECT_EQ(post_send(qp, &wr), 0);
}

TEST_F(QpTest, PassesErrorsOfCommandsOn)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    kernel_.fail("modify_qp", EINVAL);
    EXPECT_EQ(ops().modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
    kernel_.fail("query_qp", EIO);
    EXPECT_EQ(ops().query_qp(qp, &attr, IBV_QP_STATE, &init), EIO);
    const union ibv_gid gid = {};
    kernel_.fail("attach_mcast", EINVAL);
    EXPECT_EQ(ops().attach_mcast(qp, &gid, 0), EINVAL);
    EXPECT_EQ(ops().detach_mcast(qp, &gid, 0), 0);
}

}  // namespace
}  // namespace rxe::test
