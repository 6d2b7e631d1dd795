// SPDX-License-Identifier: BSD-2-Clause
// SRQs of urxe that match tags: what becomes of tags and counts when messages, queue pairs and memory go wrong or away.
#include <endian.h>
#include <infiniband/tm_types.h>

#include <cerrno>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

constexpr uint32_t kHeader = sizeof(ibv_tmh);
constexpr uint32_t kTags = 3, kOps = 2;
constexpr uint64_t kAll = ~uint64_t{0};

class Tags : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        mr_ = make_mr(memory_, sizeof memory_);
        cq_ = make_cq();
        ibv_srq_init_attr_ex attr{};
        attr.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
        attr.comp_mask =
            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
        attr.srq_type = IBV_SRQT_TM;
        attr.pd = pd_;
        attr.cq = cq_;
        attr.tm_cap = {.max_num_tags = kTags, .max_ops = kOps};
        srq_ = ibv_create_srq_ex(context_, &attr);
        ASSERT_NE(srq_, nullptr);
        at_end([this] { return ibv_destroy_srq(srq_); });
    }

    ibv_sge own(size_t offset, uint32_t length) const
    {
        return {.addr = address_of(memory_ + offset), .length = length, .lkey = mr_->lkey};
    }
    /// A QP that is connected to itself and takes from the SRQ.
    ibv_qp *make_taker()
    {
        ibv_qp *qp = open_taker();
        at_end([qp] { return ibv_destroy_qp(qp); });
        return qp;
    }
    ibv_qp *open_taker()
    {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = sends_ = make_cq();
        attr.srq = srq_;
        attr.cap = {
            .max_send_wr = 4, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
        attr.qp_type = IBV_QPT_RC;
        ibv_qp *qp = ibv_create_qp(pd_, &attr);
        EXPECT_NE(qp, nullptr);
        connect(qp, qp->qp_num);
        return qp;
    }
    /// Adds a tag; what ibv_post_srq_ops answers.
    int add(uint64_t wr_id, uint64_t tag, const ibv_sge &sge, unsigned flags = 0, uint32_t count = 0)
    {
        ibv_sge list = sge;
        ibv_ops_wr wr{}, *bad = nullptr;
        wr.wr_id = wr_id + 100;
        wr.opcode = IBV_WR_TAG_ADD;
        wr.flags = static_cast<int>(flags);
        wr.tm.unexpected_cnt = count;
        wr.tm.add = {.recv_wr_id = wr_id, .sg_list = &list, .num_sge = 1, .tag = tag, .mask = kAll};
        const int error = ibv_post_srq_ops(srq_, &wr, &bad);
        EXPECT_EQ(bad, error == 0 ? nullptr : &wr);
        handle_ = wr.tm.handle;
        return error;
    }
    void send(ibv_qp *qp, uint64_t tag, uint32_t length, ibv_wc_status status = IBV_WC_SUCCESS)
    {
        const ibv_tmh header = {.opcode = IBV_TMH_EAGER, .reserved = {}, .app_ctx = 0, .tag = htobe64(tag)};
        std::memcpy(memory_, &header, sizeof header);
        std::memset(memory_ + kHeader, 'a', length);
        ASSERT_EQ(post(qp, IBV_WR_SEND, own(0, kHeader + length)), 0);
        ASSERT_EQ(wait(sends_).status, status);
    }
    void expect(uint64_t wr_id, ibv_wc_opcode opcode)
    {
        const ibv_wc wc = wait(cq_);
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
        EXPECT_EQ(wc.wr_id, wr_id);
        EXPECT_EQ(wc.opcode, opcode);
    }

    char memory_[8192] = {};
    ibv_mr *mr_ = nullptr;
    ibv_cq *cq_ = nullptr, *sends_ = nullptr;
    ibv_srq *srq_ = nullptr;
    uint32_t handle_ = 0;
};

TEST_F(Tags, AreOfferedAsFarAsTheyGo)
{
    ibv_device_attr_ex attr{};
    ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
    EXPECT_EQ(attr.tm_caps.flags, uint32_t{IBV_TM_CAP_RC});
    ibv_srq_init_attr_ex init{};
    init.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
    init.comp_mask =
        IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
    init.srq_type = IBV_SRQT_TM;
    init.pd = pd_;
    init.cq = cq_;
    init.tm_cap = {.max_num_tags = attr.tm_caps.max_num_tags, .max_ops = attr.tm_caps.max_ops};
    ibv_srq *srq = ibv_create_srq_ex(context_, &init);
    ASSERT_NE(srq, nullptr);
    std::swap(srq, srq_);
    for (uint32_t i = 0; i < attr.tm_caps.max_num_tags; ++i)
        ASSERT_EQ(add(i, i, own(0, 8)), 0);
    EXPECT_EQ(add(0, 0, own(0, 8)), ENOMEM);
    std::swap(srq, srq_);
    EXPECT_EQ(ibv_destroy_srq(srq), 0);
    init.tm_cap.max_num_tags = 0;
    errno = 0;
    EXPECT_EQ(ibv_create_srq_ex(context_, &init), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(Tags, AreOfQueuesThatMatchThem)
{
    ibv_srq *basic = make_srq(1);
    std::swap(basic, srq_);
    EXPECT_EQ(add(1, 2, own(0, 8)), EINVAL);
    std::swap(basic, srq_);
    EXPECT_EQ(add(1, 2, own(0, 8), 1U << 7), EINVAL);
    EXPECT_EQ(add(1, 2, own(0, 8)), 0);
}

TEST_F(Tags, LetAsManyOperationsWaitAsTheyWereMadeFor)
{
    for (uint32_t i = 0; i < kOps; ++i)
        ASSERT_EQ(add(i, i, own(0, 8), IBV_OPS_SIGNALED), 0);
    EXPECT_EQ(add(9, 9, own(0, 8), IBV_OPS_SIGNALED), ENOMEM);
    expect(100, IBV_WC_TM_ADD);
    EXPECT_EQ(add(9, 9, own(0, 8), IBV_OPS_SIGNALED), 0);
    expect(101, IBV_WC_TM_ADD);
    expect(109, IBV_WC_TM_ADD);
    // What is not signaled does not wait, unless it failed.
    ibv_ops_wr wr{}, *bad = nullptr;
    wr.wr_id = 5;
    wr.opcode = IBV_WR_TAG_DEL;
    wr.tm.handle = handle_;
    ASSERT_EQ(ibv_post_srq_ops(srq_, &wr, &bad), 0);
    EXPECT_TRUE(is_empty(cq_));
    ASSERT_EQ(ibv_post_srq_ops(srq_, &wr, &bad), 0);
    const ibv_wc wc = wait(cq_);
    EXPECT_EQ(wc.wr_id, 5u);
    EXPECT_EQ(wc.status, IBV_WC_TM_ERR);
}

TEST_F(Tags, KeepTheQueuesThatTheyNeed)
{
    make_taker();
    EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
    EXPECT_EQ(ibv_destroy_cq(sends_), EBUSY);
    EXPECT_EQ(ibv_destroy_srq(srq_), EBUSY);
}

TEST_F(Tags, ComeBackWithAQueuePairWhoseCompletionsNobodyPolled)
{
    for (int i = 0; i < 3; ++i) {
        ibv_qp *qp = open_taker();
        for (uint32_t tag = 0; tag < kTags; ++tag)
            ASSERT_EQ(add(tag, tag, own(1000, 100)), 0);
        EXPECT_EQ(add(9, 9, own(1000, 100)), ENOMEM);
        for (uint32_t tag = 0; tag < kTags; ++tag)
            send(qp, tag, 10);
        ASSERT_EQ(ibv_destroy_qp(qp), 0);
        EXPECT_TRUE(is_empty(cq_));
    }
}

TEST_F(Tags, DoNotWaitForMessagesThatNobodyWillSee)
{
    ibv_qp *lost = open_taker();
    post_receive(srq_, 1, own(1000, 100));
    send(lost, 7, 10);
    ASSERT_EQ(ibv_destroy_qp(lost), 0);
    EXPECT_TRUE(is_empty(cq_));
    ibv_qp *qp = make_taker();
    ASSERT_EQ(add(5, 7, own(1000, 100)), 0);
    send(qp, 7, 10);
    expect(5, IBV_WC_TM_RECV);
}

TEST_F(Tags, DoNotWaitForMessagesThatFailed)
{
    ibv_qp *short_of_room = make_taker();
    post_receive(srq_, 1, own(1000, 8));
    send(short_of_room, 7, 10, IBV_WC_REM_INV_REQ_ERR);
    // Until the program knows, it may have been one that it must match.
    ASSERT_EQ(add(5, 7, own(1000, 100), IBV_OPS_SIGNALED), 0);
    EXPECT_EQ(wait(cq_).status, IBV_WC_LOC_LEN_ERR);
    EXPECT_EQ(wait(cq_).wc_flags, unsigned{IBV_WC_TM_SYNC_REQ});
    ibv_qp *qp = make_taker();
    send(qp, 7, 10);
    expect(5, IBV_WC_TM_RECV);
}

TEST_F(Tags, StayWhenAQueuePairFails)
{
    ibv_qp *failed = make_taker();
    ASSERT_EQ(add(5, 7, own(1000, 100)), 0);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(ibv_modify_qp(failed, &attr, IBV_QP_STATE), 0);
    EXPECT_TRUE(is_empty(cq_));
    send(make_taker(), 7, 10);
    expect(5, IBV_WC_TM_RECV);
}

TEST_F(Tags, ReachNoMemoryThatIsGone)
{
    char buffer[64] = {};
    ibv_mr *mr = ibv_reg_mr(pd_, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE);
    ASSERT_NE(mr, nullptr);
    const ibv_sge sge = {.addr = address_of(buffer), .length = sizeof buffer, .lkey = mr->lkey};
    ASSERT_EQ(add(5, 7, sge), 0);
    ASSERT_EQ(add(6, 8, sge), 0);
    ibv_qp *qp = make_taker();
    // What travels in a completion has its place when it is polled.
    send(qp, 7, 10);
    ASSERT_EQ(ibv_dereg_mr(mr), 0);
    expect(5, IBV_WC_TM_RECV);
    send(qp, 8, 10, IBV_WC_REM_OP_ERR);
    const ibv_wc wc = wait(cq_);
    EXPECT_EQ(wc.wr_id, 6u);
    EXPECT_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
    for (const char byte : buffer)
        EXPECT_EQ(byte, 0);
}

TEST_F(Tags, TakeTheirPlacesInTurn)
{
    ibv_qp *qp = make_taker();
    ASSERT_EQ(add(0, 0, own(1000, 100)), 0);
    // One stays at the head of the list while others come and go behind it.
    for (uint32_t i = 1; i < 200; ++i) {
        ASSERT_EQ(add(i, i, own(1000, 100)), 0);
        if (i % 3 == 0) {
            ibv_ops_wr wr{}, *bad = nullptr;
            wr.opcode = IBV_WR_TAG_DEL;
            wr.tm.handle = handle_;
            ASSERT_EQ(ibv_post_srq_ops(srq_, &wr, &bad), 0);
        } else if (i % 3 == 2) {
            send(qp, i, 10);
            send(qp, i - 1, 10);
            expect(i, IBV_WC_TM_RECV);
            expect(i - 1, IBV_WC_TM_RECV);
        }
    }
    send(qp, 0, 10);
    expect(0, IBV_WC_TM_RECV);
}

TEST_F(Tags, LeaveUnmatchedMessagesWaitingForReceives)
{
    ibv_qp *qp = make_taker();
    const ibv_tmh header = {.opcode = IBV_TMH_EAGER, .reserved = {}, .app_ctx = 0, .tag = htobe64(9)};
    std::memcpy(memory_, &header, sizeof header);
    ASSERT_EQ(post(qp, IBV_WR_SEND, own(0, kHeader)), 0);
    EXPECT_TRUE(is_empty(cq_));
    // It has not been given to the program: the tag takes part, and takes it.
    ASSERT_EQ(add(5, 9, own(1000, 100)), 0);
    expect(5, IBV_WC_TM_RECV);
    EXPECT_EQ(wait(sends_).status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace urxe::test
