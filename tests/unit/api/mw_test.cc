// SPDX-License-Identifier: BSD-2-Clause
// Binding of windows of type 1: what ibv_bind_mw refuses itself, and what it leaves to the provider.
#include "fake_provider.hh"

namespace verbs::test {
namespace {

const ibv_mr *bound;  // the region of the last bind that reached the provider
int binds;

class MwTest : public FakeProvider {
protected:
    MwTest()
    {
        set_memory_ops(false);
        set_ops({.bind_mw = [](ibv_qp *, ibv_mw *, ibv_mw_bind *bind) {
            ++binds;
            bound = bind->bind_info.mr;
            return answer;
        }});
        mw_.context = qp_.context = context;
        mw_.pd = &pd;
        mw_.type = IBV_MW_TYPE_1;
        bound = nullptr;
        binds = 0;
    }
    ~MwTest() override { answer = 0; }

    ibv_qp qp_{};
    ibv_mw mw_{};
    ibv_mw_bind bind_{};
};

TEST_F(MwTest, BindingAnAddressOrLengthWithoutARegionIsRefused)
{
    bind_.bind_info.addr = 0x1000;
    EXPECT_EQ(ibv_bind_mw(&qp_, &mw_, &bind_), EINVAL);
    bind_.bind_info.addr = 0;
    bind_.bind_info.length = 1;
    EXPECT_EQ(ibv_bind_mw(&qp_, &mw_, &bind_), EINVAL);
    EXPECT_EQ(binds, 0);
    bind_.bind_info.length = 0;  // this unbinds
    EXPECT_EQ(ibv_bind_mw(&qp_, &mw_, &bind_), 0);
    EXPECT_EQ(binds, 1);
}

TEST_F(MwTest, BindingAWindowOfType2OrARegionOfAnotherPdIsRefused)
{
    ibv_pd other{};
    ibv_mr mr{};
    mr.pd = &other;
    bind_.bind_info.mr = &mr;
    EXPECT_EQ(ibv_bind_mw(&qp_, &mw_, &bind_), EPERM);
    mr.pd = &pd;
    mw_.type = IBV_MW_TYPE_2;
    EXPECT_EQ(ibv_bind_mw(&qp_, &mw_, &bind_), EINVAL);
    EXPECT_EQ(binds, 0);
}

TEST_F(MwTest, BindingToANullMrIsTheProvidersToRefuse)
{
    ibv_mr *null_mr = ibv_alloc_null_mr(&pd);
    ASSERT_NE(null_mr, nullptr);
    EXPECT_EQ(null_mr->pd, &pd);
    bind_.bind_info.mr = null_mr;
    bind_.bind_info.length = 1;
    answer = EINVAL;
    EXPECT_EQ(ibv_bind_mw(&qp_, &mw_, &bind_), EINVAL);
    EXPECT_EQ(binds, 1);
    EXPECT_EQ(bound, null_mr);
    answer = 0;
    EXPECT_EQ(ibv_dereg_mr(null_mr), 0);
}

}  // namespace
}  // namespace verbs::test
