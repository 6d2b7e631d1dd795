// SPDX-License-Identifier: BSD-2-Clause
// Windows of type 1: ibv_bind_mw posts a request and moves the key on; regions and windows come and go.
#include "fake_kernel.hh"

namespace rxe::test {
namespace {

class MemoryWindow : public RxeTest {
protected:
    MemoryWindow()
        : qp_(make_qp(IBV_QPT_RC)),
          mr_(ops().reg_mr(pd_, this, 100, 0, 0)),
          mw_(ops().alloc_mw(pd_, IBV_MW_TYPE_1))
    {
        bind_.wr_id = 0x55;
        bind_.send_flags = IBV_SEND_SIGNALED;
        bind_.bind_info = {
            .mr = mr_, .addr = 0x1000, .length = 0x40, .mw_access_flags = IBV_ACCESS_REMOTE_READ};
    }
    ~MemoryWindow() override
    {
        EXPECT_EQ(ops().dealloc_mw(mw_), 0);
        EXPECT_EQ(ops().dereg_mr(verbs_get_mr(mr_)), 0);
    }

    ibv_qp *qp_;
    ibv_mr *mr_;
    ibv_mw *mw_;
    ibv_mw_bind bind_{};
};

TEST_F(MemoryWindow, BindsWithTheNextKey)
{
    mw_->rkey = 0x800001ff;
    ASSERT_EQ(ops().bind_mw(qp_, mw_, &bind_), 0);
    EXPECT_EQ(mw_->rkey, 0x80000100u);  // the low byte alone counts on
    EXPECT_EQ(connected_words(kernel_.ring().element(0), 208), words({{0, 0x55},
                                                                      {12, 8},
                                                                      {16, 2},
                                                                      {24, 0x1000},
                                                                      {32, 0x40},
                                                                      {40, 0x77},
                                                                      {44, 0x800001ff},
                                                                      {48, 0x80000100},
                                                                      {52, 4}}));
    EXPECT_EQ(kernel_.count("doorbell"), 1);
}

TEST_F(MemoryWindow, UnbindsWithoutARegion)
{
    bind_.bind_info = {};
    ASSERT_EQ(ops().bind_mw(qp_, mw_, &bind_), 0);
    EXPECT_EQ(connected_words(kernel_.ring().element(0), 208),
              words({{0, 0x55}, {12, 8}, {16, 2}, {44, 0x800001fe}, {48, 0x800001ff}}));
}

TEST_F(MemoryWindow, KeepsTheKeyWhereItIsRefused)
{
    bind_.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
    EXPECT_EQ(ops().bind_mw(qp_, mw_, &bind_), EINVAL);
    bind_.bind_info.mw_access_flags = 0;
    qp_->state = IBV_QPS_INIT;
    EXPECT_EQ(ops().bind_mw(qp_, mw_, &bind_), EINVAL);
    EXPECT_EQ(mw_->rkey, 0x800001feu);
    EXPECT_EQ(kernel_.count("doorbell"), 0);
}

TEST_F(MemoryWindow, NeedsRoomAndAnOperationOfTheQp)
{
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    for (int i = 0; i < 7; ++i)
        ASSERT_EQ(post_send(qp_, &wr), 0);
    EXPECT_EQ(ops().bind_mw(qp_, mw_, &bind_), ENOMEM);
    EXPECT_EQ(ops().bind_mw(make_qp(IBV_QPT_UD), mw_, &bind_), EINVAL);
    EXPECT_EQ(kernel_.ring().producer(), 0u);
    EXPECT_EQ(mw_->rkey, 0x800001feu);
}

TEST_F(MemoryWindow, PassesErrorsOfCommandsOn)
{
    errno = 0;
    kernel_.fail("alloc_mw", EINVAL);
    EXPECT_EQ(ops().alloc_mw(pd_, IBV_MW_TYPE_2), nullptr);
    EXPECT_EQ(errno, EINVAL);
    kernel_.fail("reg_mr", EFAULT);
    EXPECT_EQ(ops().reg_mr(pd_, nullptr, 1, 0, 0), nullptr);
    EXPECT_EQ(errno, EFAULT);
    kernel_.fail("alloc_pd", ENOMEM);
    EXPECT_EQ(ops().alloc_pd(&context_->context), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    kernel_.fail("rereg_mr", EOPNOTSUPP);
    EXPECT_EQ(ops().rereg_mr(verbs_get_mr(mr_), IBV_REREG_MR_CHANGE_ACCESS, pd_, nullptr, 0, 1), EOPNOTSUPP);
    kernel_.fail("dealloc_mw", EBUSY);
    EXPECT_EQ(ops().dealloc_mw(mw_), EBUSY);
    kernel_.fail("dereg_mr", EBUSY);
    EXPECT_EQ(ops().dereg_mr(verbs_get_mr(mr_)), EBUSY);
    kernel_.fail("dealloc_pd", EBUSY);
    EXPECT_EQ(ops().dealloc_pd(pd_), EBUSY);
}

}  // namespace
}  // namespace rxe::test
