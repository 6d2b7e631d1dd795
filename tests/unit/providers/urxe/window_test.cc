// SPDX-License-Identifier: BSD-2-Clause
// Memory windows of urxe: what may be bound to what, and for how long.
#include <cerrno>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

class Window : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        mr_ = make_mr(memory_, sizeof memory_);
        pair_ = make_pair();
    }
    ibv_mw *make_window(ibv_mw_type type = IBV_MW_TYPE_2)
    {
        ibv_mw *mw = ibv_alloc_mw(pd_, type);
        EXPECT_NE(mw, nullptr);
        at_end([mw] { return ibv_dealloc_mw(mw); });
        return mw;
    }
    /// Posts the binding of a type 2 window on side 1.
    ibv_wc_status bind(ibv_mw *mw, uint32_t key, ibv_mr *mr, uint64_t address, uint64_t length,
                       unsigned access)
    {
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_BIND_MW;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.bind_mw = {.mw = mw,
                      .rkey = key,
                      .bind_info = {.mr = mr, .addr = address, .length = length, .mw_access_flags = access}};
        EXPECT_EQ(ibv_post_send(pair_.qp[1], &wr, &bad), 0);
        return wait(pair_.cq[1]).status;
    }
    ibv_wc_status write_through(uint32_t rkey, uint64_t remote)
    {
        EXPECT_EQ(post(pair_.qp[0], IBV_WR_RDMA_WRITE, own(0, 8), remote, rkey), 0);
        return wait(pair_.cq[0]).status;
    }
    ibv_sge own(size_t offset, uint32_t length) const
    {
        return {.addr = address_of(memory_ + offset), .length = length, .lkey = mr_->lkey};
    }

    char memory_[4096] = {};
    ibv_mr *mr_ = nullptr;
    Pair pair_{};
};

TEST_F(Window, Capabilities)
{
    ibv_device_attr attr;
    ASSERT_EQ(ibv_query_device(context_, &attr), 0);
    EXPECT_EQ(attr.device_cap_flags & (IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B),
              unsigned{IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B});
    EXPECT_GT(attr.max_mw, 1000);
}

TEST_F(Window, AddressesFromZero)
{
    ibv_mw *mw = make_window();
    const uint32_t key = ibv_inc_rkey(mw->rkey);
    ASSERT_EQ(
        bind(mw, key, mr_, address_of(memory_ + 1000), 100, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED),
        IBV_WC_SUCCESS);
    std::memset(memory_, 7, 8);
    EXPECT_EQ(write_through(key, 92), IBV_WC_SUCCESS);
    EXPECT_EQ(memory_[1092], 7);
    EXPECT_EQ(write_through(key, 93), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Window, KeyIsNotForLocalUse)
{
    ibv_mw *mw = make_window();
    const uint32_t key = ibv_inc_rkey(mw->rkey);
    ASSERT_EQ(bind(mw, key, mr_, address_of(memory_), 100, IBV_ACCESS_REMOTE_READ), IBV_WC_SUCCESS);
    const ibv_sge sge = {.addr = address_of(memory_), .length = 8, .lkey = key};
    EXPECT_EQ(post(pair_.qp[1], IBV_WR_RDMA_WRITE, sge, address_of(memory_ + 2000), mr_->rkey), 0);
    EXPECT_EQ(wait(pair_.cq[1]).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(Window, KeepsItsRegion)
{
    char memory[64] = {};
    ibv_mr *mr = ibv_reg_mr(pd_, memory, sizeof memory, kAllAccess);
    ASSERT_NE(mr, nullptr);
    ibv_mw *mw = make_window();
    const uint32_t key = ibv_inc_rkey(mw->rkey);
    ASSERT_EQ(bind(mw, key, mr, address_of(memory), sizeof memory, IBV_ACCESS_REMOTE_WRITE), IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_dereg_mr(mr), EBUSY);
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              IBV_REREG_MR_ERR_CMD);
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(write_through(key, address_of(memory)), IBV_WC_SUCCESS);
    // Whoever invalidates it sets the region free.
    post_receive(pair_.qp[1], 3, own(1000, 8));
    ASSERT_EQ(post(pair_.qp[0], IBV_WR_SEND_WITH_INV, own(0, 8), 0, key), 0);
    EXPECT_EQ(wait(pair_.cq[0]).status, IBV_WC_SUCCESS);
    const ibv_wc wc = wait(pair_.cq[1]);
    EXPECT_EQ(wc.invalidated_rkey, key);
    EXPECT_NE(wc.wc_flags & IBV_WC_WITH_INV, 0u);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    mw->rkey = key;
    EXPECT_EQ(bind(mw, ibv_inc_rkey(key), mr_, address_of(memory_), 8, IBV_ACCESS_REMOTE_WRITE),
              IBV_WC_SUCCESS);
}

/// Bindings that are refused with a completion.
struct Wrong {
    const char *name;
    int region_access;
    unsigned access;
    uint64_t length;
    uint32_t key_change;  ///< against the key that it should have
};

class WrongBinding : public Window, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongBinding, IsRefused)
{
    const Wrong &wrong = GetParam();
    char memory[64] = {};
    ibv_mr *mr = make_mr(memory, sizeof memory, wrong.region_access);
    ibv_mw *mw = make_window();
    EXPECT_EQ(bind(mw, ibv_inc_rkey(mw->rkey) ^ wrong.key_change, mr, address_of(memory), wrong.length,
                   wrong.access),
              IBV_WC_MW_BIND_ERR);
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
    ASSERT_EQ(ibv_query_qp(pair_.qp[1], &attr, IBV_QP_STATE, &init), 0);
    EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
}

constexpr int kBindable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
INSTANTIATE_TEST_SUITE_P(
    All, WrongBinding,
    testing::Values(Wrong{"NoBind", IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, 64, 0},
                    Wrong{"ReadOnly", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_WRITE, 64, 0},
                    Wrong{"TooLong", kBindable, IBV_ACCESS_REMOTE_WRITE, 65, 0},
                    Wrong{"Empty", kBindable, IBV_ACCESS_REMOTE_WRITE, 0, 0},
                    Wrong{"LocalRights", kBindable, IBV_ACCESS_LOCAL_WRITE, 64, 0},
                    Wrong{"OtherIndex", kBindable, IBV_ACCESS_REMOTE_WRITE, 64, 0x100}),
    [](const auto &wrong) { return wrong.param.name; });

TEST_F(Window, InvalidationOfOtherKeys)
{
    // A region's key is no window's, for a local or a remote request.
    post_receive(pair_.qp[1], 1, own(1000, 8));
    ASSERT_EQ(post(pair_.qp[0], IBV_WR_SEND_WITH_INV, own(0, 8), 0, mr_->rkey), 0);
    EXPECT_EQ(wait(pair_.cq[0]).status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(wait(pair_.cq[1]).status, IBV_WC_WR_FLUSH_ERR);
    const Pair other = make_pair();
    ASSERT_EQ(post(other.qp[0], IBV_WR_LOCAL_INV, {}, 0, mr_->rkey), 0);
    EXPECT_EQ(wait(other.cq[0]).status, IBV_WC_MW_BIND_ERR);
    pair_ = make_pair();
    EXPECT_EQ(write_through(mr_->rkey, address_of(memory_ + 2000)), IBV_WC_SUCCESS);
}

TEST_F(Window, TypesAndWaysToBind)
{
    ibv_mw *type1 = make_window(IBV_MW_TYPE_1);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_BIND_MW;
    wr.bind_mw = {.mw = type1,
                  .rkey = ibv_inc_rkey(type1->rkey),
                  .bind_info = {.mr = mr_, .addr = address_of(memory_), .length = 8, .mw_access_flags = 0}};
    EXPECT_EQ(ibv_post_send(pair_.qp[1], &wr, &bad), EINVAL);
    wr.bind_mw.mw = nullptr;
    EXPECT_EQ(ibv_post_send(pair_.qp[1], &wr, &bad), EINVAL);
    const Pair datagrams = make_pair(IBV_QPT_UD);
    ibv_mw_bind bind{};
    bind.bind_info = {
        .mr = mr_, .addr = address_of(memory_), .length = 8, .mw_access_flags = IBV_ACCESS_REMOTE_READ};
    EXPECT_EQ(ibv_bind_mw(datagrams.qp[0], type1, &bind), EINVAL);
}

}  // namespace
}  // namespace urxe::test
