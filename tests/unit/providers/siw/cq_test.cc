// SPDX-License-Identifier: BSD-2-Clause
// Completions: every field through both ways to poll, batches, the end of the ring, requests for events.
#include "siw/cq.hh"

#include "fake_kernel.hh"

namespace siw::test {
namespace {

/// The driver's side of the CQ that was made last.
class Driver {
public:
    explicit Driver(uint32_t size) : ring_(kernel().ring<siw_cqe>()), size_(size) {}

    void complete(siw_cqe cqe)
    {
        siw_cqe &slot = ring_[next_++ % size_];
        ASSERT_EQ(slot.flags & SIW_WQE_VALID, 0) << "overflow";
        cqe.flags |= SIW_WQE_VALID;
        slot = cqe;
    }
    uint32_t &notify() const { return reinterpret_cast<siw_cq_ctrl *>(ring_ + size_)->flags; }

private:
    siw_cqe *ring_;
    uint32_t size_;
    uint32_t next_ = 0;
};

siw_cqe completion(uint64_t wr_id)
{
    siw_cqe cqe{};
    cqe.id = wr_id;
    cqe.opcode = SIW_OP_RECEIVE;
    cqe.bytes = 0x22222222;
    cqe.qp_id = 0x444444;
    return cqe;
}

class CqTest : public SiwTest {
protected:
    Driver driver_{16};
};

TEST_F(CqTest, PollsEveryField)
{
    driver_.complete(completion(0x1122334455667788));
    ibv_wc wc;
    std::memset(&wc, 0xa5, sizeof(wc));
    ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
    EXPECT_EQ(wc.wr_id, 0x1122334455667788u);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.opcode, IBV_WC_RECV);
    EXPECT_EQ(wc.vendor_err, 0u);
    EXPECT_EQ(wc.byte_len, 0x22222222u);
    EXPECT_EQ(wc.imm_data, 0u);
    EXPECT_EQ(wc.qp_num, 0x444444u);
    EXPECT_EQ(wc.src_qp, 0u);
    EXPECT_EQ(wc.wc_flags, 0u);
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 0);
}

TEST_F(CqTest, TellsOfAnInvalidatedKey)
{
    siw_cqe cqe = completion(1);
    cqe.flags = SIW_WQE_REM_INVAL;
    cqe.inval_stag = 0x777;
    driver_.complete(cqe);
    ibv_wc wc;
    ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
    EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_WITH_INV});
    EXPECT_EQ(wc.invalidated_rkey, 0x777u);
}

TEST_F(CqTest, TranslatesStatusesAndOpcodes)
{
    const std::pair<int, ibv_wc_status> statuses[] = {{SIW_WC_SUCCESS, IBV_WC_SUCCESS},
                                                      {SIW_WC_LOC_LEN_ERR, IBV_WC_LOC_LEN_ERR},
                                                      {SIW_WC_LOC_PROT_ERR, IBV_WC_LOC_PROT_ERR},
                                                      {SIW_WC_LOC_QP_OP_ERR, IBV_WC_LOC_QP_OP_ERR},
                                                      {SIW_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR},
                                                      {SIW_WC_BAD_RESP_ERR, IBV_WC_BAD_RESP_ERR},
                                                      {SIW_WC_LOC_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR},
                                                      {SIW_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR},
                                                      {SIW_WC_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR},
                                                      {SIW_WC_GENERAL_ERR, IBV_WC_GENERAL_ERR},
                                                      {0xffff, IBV_WC_GENERAL_ERR}};
    const std::pair<int, ibv_wc_opcode> opcodes[] = {{SIW_OP_WRITE, IBV_WC_RDMA_WRITE},
                                                     {SIW_OP_READ, IBV_WC_RDMA_READ},
                                                     {SIW_OP_READ_LOCAL_INV, IBV_WC_RDMA_READ},
                                                     {SIW_OP_SEND, IBV_WC_SEND},
                                                     {SIW_OP_SEND_WITH_IMM, IBV_WC_SEND},
                                                     {SIW_OP_SEND_REMOTE_INV, IBV_WC_SEND},
                                                     {SIW_OP_FETCH_AND_ADD, IBV_WC_FETCH_ADD},
                                                     {SIW_OP_COMP_AND_SWAP, IBV_WC_COMP_SWAP},
                                                     {SIW_OP_RECEIVE, IBV_WC_RECV},
                                                     {SIW_OP_INVAL_STAG, IBV_WC_LOCAL_INV}};
    ibv_wc wc;
    for (const auto &[siw, verbs] : statuses) {
        siw_cqe cqe = completion(1);
        cqe.status = static_cast<uint16_t>(siw);
        driver_.complete(cqe);
        ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
        EXPECT_EQ(wc.status, verbs) << siw;
    }
    for (const auto &[siw, verbs] : opcodes) {
        siw_cqe cqe = completion(1);
        cqe.opcode = static_cast<uint8_t>(siw);
        driver_.complete(cqe);
        ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
        EXPECT_EQ(wc.opcode, verbs) << siw;
    }
}

TEST_F(CqTest, PollsAcrossTheEndOfTheRing)
{
    ibv_wc wc[16];
    uint64_t next = 0, seen = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 11; ++i)
            driver_.complete(completion(next++));
        ASSERT_EQ(ops().poll_cq(cq_, 4, wc), 4);
        ASSERT_EQ(ops().poll_cq(cq_, 16, wc + 4), 7);
        for (int i = 0; i < 11; ++i)
            EXPECT_EQ(wc[i].wr_id, seen++);
    }
}

TEST_F(CqTest, PollsNoMoreThanAsked)
{
    driver_.complete(completion(1));
    ibv_wc wc;
    std::memset(&wc, 0xa5, sizeof(wc));
    EXPECT_EQ(ops().poll_cq(cq_, 0, &wc), 0);
    EXPECT_EQ(ops().poll_cq(cq_, -1, &wc), 0);
    EXPECT_EQ(*reinterpret_cast<unsigned char *>(&wc), 0xa5);
}

TEST_F(CqTest, AsksForEvents)
{
    EXPECT_EQ(ops().req_notify_cq(cq_, 1), 0);
    EXPECT_EQ(driver_.notify(), uint32_t{SIW_NOTIFY_SOLICITED});
    EXPECT_EQ(ops().req_notify_cq(cq_, 0), 0);
    EXPECT_EQ(driver_.notify(), uint32_t{SIW_NOTIFY_SOLICITED | SIW_NOTIFY_NEXT_COMPLETION});
    EXPECT_EQ(ops().req_notify_cq(cq_, 1), 0);
    EXPECT_EQ(driver_.notify(), uint32_t{SIW_NOTIFY_SOLICITED | SIW_NOTIFY_NEXT_COMPLETION});
    driver_.notify() = SIW_NOTIFY_NOT;
    EXPECT_EQ(ops().req_notify_cq(cq_, 1), 0);
    EXPECT_EQ(driver_.notify(), uint32_t{SIW_NOTIFY_SOLICITED});
}

TEST_F(CqTest, FailsWithoutLeftovers)
{
    kernel_.fail("create_cq", EINVAL);
    errno = 0;
    EXPECT_EQ(ops().create_cq(&context_->context, 1, nullptr, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 1;
    kernel_.fail("create_cq", EPERM);
    EXPECT_EQ(ops().create_cq_ex(&context_->context, &attr), nullptr);
    EXPECT_EQ(errno, EPERM);
    kernel_.breaks_mmap = true;
    EXPECT_EQ(ops().create_cq(&context_->context, 1, nullptr, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(kernel_.count("destroy_cq"), 1);
    EXPECT_EQ(ops().create_cq_ex(&context_->context, &attr), nullptr);
    EXPECT_EQ(kernel_.count("destroy_cq"), 2);
    kernel_.lacks_rings = true;
    EXPECT_EQ(ops().create_cq(&context_->context, 1, nullptr, 0), nullptr);
    EXPECT_EQ(errno, EPROTO);
    EXPECT_EQ(kernel_.count("destroy_cq"), 3);
}

TEST_F(CqTest, StaysWhereDestroyingFails)
{
    kernel_.fail("destroy_cq", EBUSY);
    EXPECT_EQ(ops().destroy_cq(cq_), EBUSY);
    driver_.complete(completion(1));
    ibv_wc wc;
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
}

TEST_F(CqTest, RefusesFieldsAndFlagsThatSiwLacks)
{
    for (const uint64_t flag :
         {IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, IBV_WC_EX_WITH_CVLAN, IBV_WC_EX_WITH_FLOW_TAG}) {
        ibv_cq_init_attr_ex attr{};
        attr.cqe = 1;
        attr.wc_flags = flag;
        errno = 0;
        EXPECT_EQ(ops().create_cq_ex(&context_->context, &attr), nullptr);
        EXPECT_EQ(errno, EOPNOTSUPP);
    }
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 1;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    errno = 0;
    EXPECT_EQ(ops().create_cq_ex(&context_->context, &attr), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    EXPECT_EQ(kernel_.count("create_cq"), 1);
}

class ExtendedCq : public SiwTest, public testing::WithParamInterface<uint32_t> {
protected:
    ExtendedCq() : extended_(create()), driver_(8) {}
    ~ExtendedCq() override { EXPECT_EQ(ops().destroy_cq(plain()), 0); }

    ibv_cq_ex *create()
    {
        ibv_cq_init_attr_ex attr{};
        attr.cqe = 8;
        attr.wc_flags = IBV_WC_STANDARD_FLAGS;
        attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
        attr.flags = GetParam();
        return ops().create_cq_ex(&context_->context, &attr);
    }

    ibv_cq *plain() { return reinterpret_cast<ibv_cq *>(extended_); }
    int start() { return extended_->start_poll(extended_, &poll_attr_); }
    int next() { return extended_->next_poll(extended_); }
    void end() { extended_->end_poll(extended_); }

    ibv_cq_ex *extended_;
    Driver driver_;
    ibv_poll_cq_attr poll_attr_{};
};

TEST_P(ExtendedCq, ReadsEveryField)
{
    siw_cqe cqe = completion(0x1122334455667788);
    cqe.status = SIW_WC_REM_ACCESS_ERR;
    cqe.flags = SIW_WQE_REM_INVAL;
    cqe.inval_stag = 0x777;
    driver_.complete(cqe);
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(extended_->wr_id, 0x1122334455667788u);
    EXPECT_EQ(extended_->status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(extended_->read_opcode(extended_), IBV_WC_RECV);
    EXPECT_EQ(extended_->read_vendor_err(extended_), 0u);
    EXPECT_EQ(extended_->read_byte_len(extended_), 0x22222222u);
    EXPECT_EQ(extended_->read_imm_data(extended_), 0x777u);
    EXPECT_EQ(extended_->read_qp_num(extended_), 0x444444u);
    EXPECT_EQ(extended_->read_src_qp(extended_), 0u);
    EXPECT_EQ(extended_->read_wc_flags(extended_), unsigned{IBV_WC_WITH_INV});
    EXPECT_EQ(extended_->read_slid(extended_), 0u);
    EXPECT_EQ(extended_->read_sl(extended_), 0);
    EXPECT_EQ(extended_->read_dlid_path_bits(extended_), 0);
    end();
    EXPECT_EQ(start(), ENOENT);
}

TEST_P(ExtendedCq, TakesEachOnce)
{
    EXPECT_EQ(start(), ENOENT);
    uint64_t put = 0, seen = 0;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 5; ++i)
            driver_.complete(completion(put++));
        ASSERT_EQ(start(), 0);  // three, and back
        EXPECT_EQ(extended_->wr_id, seen++);
        EXPECT_EQ(next(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        EXPECT_EQ(next(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        end();
        ibv_wc wc;
        ASSERT_EQ(ops().poll_cq(plain(), 1, &wc), 1);
        EXPECT_EQ(wc.wr_id, seen++);
        ASSERT_EQ(start(), 0);  // and the last, past the end
        EXPECT_EQ(extended_->wr_id, seen++);
        EXPECT_EQ(next(), ENOENT);
        driver_.complete(completion(put++));
        end();  // takes none that came meanwhile
        ASSERT_EQ(start(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        end();
        EXPECT_EQ(start(), ENOENT);
    }
}

TEST_P(ExtendedCq, KnowsNoPollAttributes)
{
    driver_.complete(completion(1));
    poll_attr_.comp_mask = 1;
    EXPECT_EQ(start(), EINVAL);
    poll_attr_.comp_mask = 0;
    EXPECT_EQ(start(), 0);
    end();
}

INSTANTIATE_TEST_SUITE_P(Locking, ExtendedCq, testing::Values(0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED));

}  // namespace
}  // namespace siw::test
