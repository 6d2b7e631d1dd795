// SPDX-License-Identifier: BSD-2-Clause
// Completion counters of urxe.
#include <cerrno>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

constexpr uint32_t kSends = IBV_QP_ATTACH_COMP_CNTR_OP_SEND, kReceives = IBV_QP_ATTACH_COMP_CNTR_OP_RECV,
                   kReads = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ,
                   kRemoteReads = IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ,
                   kWrites = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE,
                   kRemoteWrites = IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;

class CompletionCounter : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        mr_ = make_mr(memory_, sizeof memory_);
    }
    ibv_sge own(uint32_t length) const { return {address_of(memory_), length, mr_->lkey}; }
    ibv_comp_cntr *make_counter(ibv_comp_cntr_type type = IBV_COMP_CNTR_TYPE_WRS)
    {
        ibv_comp_cntr_init_attr attr{};
        attr.type = type;
        ibv_comp_cntr *counter = ibv_create_comp_cntr(context_, &attr);
        EXPECT_NE(counter, nullptr);
        at_end([counter] { return ibv_destroy_comp_cntr(counter); });
        return counter;
    }
    static int attach(ibv_qp *qp, ibv_comp_cntr *counter, uint32_t ops)
    {
        ibv_qp_attach_comp_cntr_attr attr{.comp_mask = 0, .op_mask = ops};
        return ibv_qp_attach_comp_cntr(qp, counter, &attr);
    }
    static uint64_t count(ibv_comp_cntr *counter)
    {
        uint64_t value = UINT64_MAX;
        EXPECT_EQ(ibv_read_comp_cntr(counter, &value), 0);
        return value;
    }
    static uint64_t failures(ibv_comp_cntr *counter)
    {
        uint64_t value = UINT64_MAX;
        EXPECT_EQ(ibv_read_err_comp_cntr(counter, &value), 0);
        return value;
    }
    /// A pair that is not connected yet.
    Pair make_unconnected(ibv_qp_type type = IBV_QPT_RC)
    {
        Pair pair{};
        for (int side = 0; side < 2; ++side) {
            pair.cq[side] = make_cq();
            pair.qp[side] = make_qp(pair.cq[side], type);
        }
        return pair;
    }
    void connect(const Pair &pair)
    {
        for (int side = 0; side < 2; ++side)
            Loopback::connect(pair.qp[side], pair.qp[1 - side]->qp_num);
    }

    char memory_[4096] = {};
    ibv_mr *mr_ = nullptr;
};

TEST_F(CompletionCounter, IsSetAndIncremented)
{
    ibv_comp_cntr_caps caps{};
    ASSERT_EQ(ibv_query_comp_cntr_caps(context_, &caps), 0);
    EXPECT_EQ(caps.max_value, UINT64_MAX);
    EXPECT_GT(caps.max_counters, 0u);
    EXPECT_EQ(caps.supported_qp_attach_ops,
              kSends | kReceives | kReads | kRemoteReads | kWrites | kRemoteWrites);
    ibv_comp_cntr *counter = make_counter();
    EXPECT_EQ(counter->context, context_);
    EXPECT_EQ(count(counter), 0u);
    EXPECT_EQ(failures(counter), 0u);
    EXPECT_EQ(ibv_set_comp_cntr(counter, 7), 0);
    EXPECT_EQ(ibv_inc_comp_cntr(counter, 3), 0);
    EXPECT_EQ(ibv_set_err_comp_cntr(counter, UINT64_MAX), 0);
    EXPECT_EQ(ibv_inc_err_comp_cntr(counter, 5), 0);
    EXPECT_EQ(count(counter), 10u);
    EXPECT_EQ(failures(counter), 4u);
}

TEST_F(CompletionCounter, TellsOperationsApart)
{
    ibv_comp_cntr *sends = make_counter(), *reads = make_counter(), *writes = make_counter();
    ibv_comp_cntr *receives = make_counter(), *remote = make_counter(),
                  *bytes = make_counter(IBV_COMP_CNTR_TYPE_BYTES);
    const Pair pair = make_unconnected();
    ASSERT_EQ(attach(pair.qp[0], sends, kSends), 0);
    ASSERT_EQ(attach(pair.qp[0], reads, kReads), 0);
    ASSERT_EQ(attach(pair.qp[0], writes, kWrites), 0);
    ASSERT_EQ(attach(pair.qp[1], receives, kReceives), 0);
    ASSERT_EQ(attach(pair.qp[1], remote, kRemoteReads), 0);
    ASSERT_EQ(attach(pair.qp[1], bytes, kRemoteWrites), 0);
    connect(pair);
    for (int i = 0; i < 3; ++i)
        post_receive(pair.qp[1], 0, own(1000));
    const auto posted = [&](ibv_wr_opcode opcode, uint32_t length) {
        ASSERT_EQ(post(pair.qp[0], opcode, own(length), address_of(memory_ + 2048), mr_->rkey), 0);
        ASSERT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
    };
    posted(IBV_WR_SEND, 100);
    posted(IBV_WR_SEND_WITH_IMM, 1000);
    posted(IBV_WR_RDMA_READ, 10);
    posted(IBV_WR_RDMA_WRITE, 20);
    posted(IBV_WR_RDMA_WRITE, 0);
    posted(IBV_WR_RDMA_WRITE_WITH_IMM, 300);
    EXPECT_EQ(count(sends), 2u);
    EXPECT_EQ(count(reads), 1u);
    EXPECT_EQ(count(writes), 3u);
    EXPECT_EQ(count(receives), 3u);
    EXPECT_EQ(count(remote), 1u);
    EXPECT_EQ(count(bytes), 320u);
    for (ibv_comp_cntr *counter : {sends, reads, writes, receives, remote, bytes})
        EXPECT_EQ(failures(counter), 0u);
}

TEST_F(CompletionCounter, CountsWhatHasNoCompletion)
{
    ibv_comp_cntr *writes = make_counter(IBV_COMP_CNTR_TYPE_BYTES);
    const Pair pair = make_unconnected();
    ASSERT_EQ(attach(pair.qp[0], writes, kWrites), 0);
    connect(pair);
    ibv_sge sge = own(100);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = address_of(memory_ + 2048);
    wr.wr.rdma.rkey = mr_->rkey;
    for (int i = 0; i < 5; ++i)
        ASSERT_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0);
    EXPECT_EQ(count(writes), 500u);
    EXPECT_TRUE(is_empty(pair.cq[0]));
}

TEST_F(CompletionCounter, CountsFailures)
{
    ibv_comp_cntr *own_side = make_counter(), *other = make_counter(IBV_COMP_CNTR_TYPE_BYTES),
                  *receives = make_counter();
    const Pair pair = make_unconnected();
    ASSERT_EQ(attach(pair.qp[0], own_side, kSends | kWrites), 0);
    ASSERT_EQ(attach(pair.qp[1], other, kRemoteWrites), 0);
    ASSERT_EQ(attach(pair.qp[1], receives, kReceives), 0);
    connect(pair);
    post_receive(pair.qp[1], 0, own(100));
    post_receive(pair.qp[1], 0, own(100));
    ASSERT_EQ(post(pair.qp[0], IBV_WR_RDMA_WRITE, own(8), 0, mr_->rkey + 1), 0);
    ASSERT_EQ(post(pair.qp[0], IBV_WR_SEND, own(8)), 0);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wait(pair.cq[1]).status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(count(own_side), 0u);
    EXPECT_EQ(failures(own_side), 2u);
    EXPECT_EQ(count(other), 0u);
    EXPECT_EQ(failures(other), 1u);
    EXPECT_EQ(count(receives), 0u);
    EXPECT_EQ(failures(receives), 2u);
}

TEST_F(CompletionCounter, IsSharedByQueuePairs)
{
    ibv_comp_cntr *counter = make_counter();
    const Pair one = make_unconnected(IBV_QPT_UC), other = make_unconnected();
    ASSERT_EQ(attach(one.qp[0], counter, kSends), 0);
    ASSERT_EQ(attach(other.qp[1], counter, kReceives), 0);
    connect(one);
    connect(other);
    post_receive(one.qp[1], 0, own(8));
    post_receive(other.qp[1], 0, own(8));
    for (const Pair &pair : {one, other}) {
        ASSERT_EQ(post(pair.qp[0], IBV_WR_SEND, own(8)), 0);
        ASSERT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
    }
    EXPECT_EQ(count(counter), 2u);
}

TEST_F(CompletionCounter, StaysWithTheQueuePair)
{
    ibv_comp_cntr *counter = make_counter(), *another = make_counter();
    ibv_cq *cq = make_cq();
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq;
    attr.cap.max_send_wr = 1;
    attr.qp_type = IBV_QPT_RC;
    ibv_qp *qp = ibv_create_qp(pd_, &attr);
    ASSERT_NE(qp, nullptr);
    ASSERT_EQ(attach(qp, counter, kSends), 0);
    EXPECT_EQ(attach(qp, counter, kSends), 0);
    EXPECT_EQ(attach(qp, another, kSends | kReads), EBUSY);
    EXPECT_EQ(attach(qp, another, kReads), 0);
    EXPECT_EQ(attach(qp, another, 1U << 6), EOPNOTSUPP);
    EXPECT_EQ(attach(qp, another, 0), EINVAL);
    ibv_qp_attach_comp_cntr_attr unknown{.comp_mask = 1, .op_mask = kSends};
    EXPECT_EQ(ibv_qp_attach_comp_cntr(qp, counter, &unknown), EOPNOTSUPP);
    EXPECT_EQ(ibv_destroy_comp_cntr(counter), EBUSY);
    Loopback::connect(qp, qp->qp_num);
    EXPECT_EQ(attach(qp, counter, kWrites), EINVAL);
    EXPECT_EQ(ibv_destroy_comp_cntr(counter), EBUSY);
    ASSERT_EQ(ibv_destroy_qp(qp), 0);
    ibv_comp_cntr_init_attr bad{};
    const uint32_t none = 2;
    std::memcpy(&bad.type, &none, sizeof none);
    errno = 0;
    EXPECT_EQ(ibv_create_comp_cntr(context_, &bad), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace urxe::test
