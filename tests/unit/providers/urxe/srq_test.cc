// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues of urxe: whose places they are, and resizing.
#include <cerrno>

#include "loopback.hh"

namespace urxe::test {
namespace {

class SharedReceiveQueue : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        mr_ = make_mr(memory_, sizeof memory_);
    }
    ibv_sge own(size_t offset, uint32_t length) const
    {
        return {.addr = address_of(memory_ + offset), .length = length, .lkey = mr_->lkey};
    }
    int try_post(ibv_srq *srq) const
    {
        ibv_sge sge = own(0, 8);
        ibv_recv_wr wr{}, *bad = nullptr;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        return ibv_post_srq_recv(srq, &wr, &bad);
    }

    char memory_[4096] = {};
    ibv_mr *mr_ = nullptr;
};

/// Makes a QP at an SRQ take a receive, whose completion nobody polls, and go.
class LostReceive : public SharedReceiveQueue {
protected:
    void lose(ibv_srq *srq, ibv_cq *cq)
    {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq;
        attr.srq = srq;
        attr.cap = {
            .max_send_wr = 1, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
        attr.qp_type = IBV_QPT_RC;
        ibv_qp *qp = ibv_create_qp(pd_, &attr);
        ASSERT_NE(qp, nullptr);
        connect(qp, qp->qp_num);
        ASSERT_EQ(post(qp, IBV_WR_SEND, own(0, 8)), 0);
        ASSERT_EQ(ibv_destroy_qp(qp), 0);
    }
};

TEST_F(LostReceive, GivesItsPlaceBackWhenPolled)
{
    ibv_srq *srq = make_srq(1);
    ibv_cq *cq = make_cq();
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(try_post(srq), 0);
        ASSERT_EQ(try_post(srq), ENOMEM);
        lose(srq, cq);
        EXPECT_TRUE(is_empty(cq));
    }
}

TEST_F(LostReceive, GivesItsPlaceBackWithTheQueue)
{
    ibv_srq *srq = make_srq(1);
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(try_post(srq), 0);
        ibv_cq *cq = ibv_create_cq(context_, 4, nullptr, nullptr, 0);
        ASSERT_NE(cq, nullptr);
        lose(srq, cq);
        ASSERT_EQ(ibv_destroy_cq(cq), 0);
    }
}

TEST_F(SharedReceiveQueue, KeepsItsOrderWhenResized)
{
    ibv_srq *srq = make_srq(4);
    const Pair pair = make_pair(IBV_QPT_RC, srq);
    uint64_t posted = 0, received = 0;
    const auto exchange = [&](int count) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(post(pair.qp[0], IBV_WR_SEND, own(0, 8)), 0);
            ASSERT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
            ASSERT_EQ(wait(pair.cq[1]).wr_id, received++);
        }
    };
    // Begins in the middle of the ring, and leaves a completion that nobody has polled.
    for (int i = 0; i < 4; ++i)
        post_receive(srq, posted++, own(8, 8));
    exchange(3);
    for (int i = 0; i < 3; ++i)
        post_receive(srq, posted++, own(8, 8));
    ASSERT_EQ(post(pair.qp[0], IBV_WR_SEND, own(0, 8)), 0);
    ASSERT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
    for (const uint32_t max_wr : {9U, 100U, 20U}) {
        ibv_srq_attr attr{};
        attr.max_wr = max_wr;
        ASSERT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
        ASSERT_EQ(ibv_query_srq(srq, &attr), 0);
        EXPECT_EQ(attr.max_wr, max_wr);
        while (posted - received < max_wr)
            post_receive(srq, posted++, own(8, 8));
        EXPECT_EQ(try_post(srq), ENOMEM);
        ASSERT_EQ(wait(pair.cq[1]).wr_id, received++);
        exchange(static_cast<int>(max_wr) - 3);
        ASSERT_EQ(post(pair.qp[0], IBV_WR_SEND, own(0, 8)), 0);
        ASSERT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
    }
}

TEST_F(SharedReceiveQueue, SizesThatCannotBe)
{
    ibv_srq *srq = make_srq(4);
    for (int i = 0; i < 3; ++i)
        post_receive(srq, 0, own(0, 8));
    ibv_srq_attr attr{};
    for (const uint32_t max_wr : {0U, 2U, 1U << 30}) {
        attr.max_wr = max_wr;
        EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL) << max_wr;
    }
    attr.max_wr = 8;
    attr.srq_limit = 9;
    EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EINVAL);
    ASSERT_EQ(ibv_query_srq(srq, &attr), 0);
    EXPECT_EQ(attr.max_wr, 4u);
    attr.max_wr = 3;
    EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
    EXPECT_EQ(try_post(srq), ENOMEM);
}

}  // namespace
}  // namespace urxe::test
