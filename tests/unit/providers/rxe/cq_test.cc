// SPDX-License-Identifier: BSD-2-Clause
// Completions: every field through both ways to poll, batches, the end of the ring, resizing.
#include <cstring>

#include "fake_kernel.hh"
#include "rxe/cq.hh"

namespace rxe::test {
namespace {

constexpr uint32_t kKernelGrh = 1, kKernelWithImm = 2, kKernelWithInvalidate = 4;

/// A completion with a value of its own in each field.
ib_uverbs_wc completion(uint64_t wr_id)
{
    ib_uverbs_wc wc{};
    wc.wr_id = wr_id;
    wc.status = IBV_WC_SUCCESS;
    wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    wc.vendor_err = 0x11111111;
    wc.byte_len = 0x22222222;
    wc.ex.imm_data = 0x33333333;
    wc.qp_num = 0x444444;
    wc.src_qp = 0x555555;
    wc.wc_flags = kKernelGrh | kKernelWithImm;
    wc.pkey_index = 0x6666;
    wc.slid = 0x7777;
    wc.sl = 0x8;
    wc.dlid_path_bits = 0x99;
    wc.port_num = 1;
    return wc;
}

/// The driver's side: puts a completion into the ring that was made last.
void complete(const ib_uverbs_wc &wc)
{
    const Ring ring = kernel().ring();
    ASSERT_NE((ring.producer() + 1) & ring.buf->index_mask, ring.consumer()) << "overflow";
    std::memcpy(ring.element(ring.producer()), &wc, sizeof(wc));
    ring.buf->producer_index = (ring.producer() + 1) & ring.buf->index_mask;
}

class CqTest : public RxeTest {};

TEST_F(CqTest, PollsEveryField)
{
    complete(completion(0x1122334455667788));
    ibv_wc wc;
    std::memset(&wc, 0xa5, sizeof(wc));
    ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
    EXPECT_EQ(wc.wr_id, 0x1122334455667788u);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(wc.vendor_err, 0x11111111u);
    EXPECT_EQ(wc.byte_len, 0x22222222u);
    EXPECT_EQ(wc.imm_data, 0x33333333u);
    EXPECT_EQ(wc.qp_num, 0x444444u);
    EXPECT_EQ(wc.src_qp, 0x555555u);
    EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_GRH | IBV_WC_WITH_IMM});
    EXPECT_EQ(wc.pkey_index, 0x6666);
    EXPECT_EQ(wc.slid, 0x7777);
    EXPECT_EQ(wc.sl, 0x8);
    EXPECT_EQ(wc.dlid_path_bits, 0x99);
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 0);
}

TEST_F(CqTest, TranslatesTheFlagOfAnInvalidatedKey)
{
    ib_uverbs_wc entry = completion(1);
    entry.wc_flags = kKernelWithInvalidate;
    entry.ex.invalidate_rkey = 0x777;
    complete(entry);
    ibv_wc wc;
    ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
    EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_WITH_INV});
    EXPECT_EQ(wc.invalidated_rkey, 0x777u);
}

TEST_F(CqTest, PollsAcrossTheEndOfTheRing)
{
    ibv_wc wc[16];
    uint64_t next = 0, seen = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 11; ++i)
            complete(completion(next++));
        ASSERT_EQ(ops().poll_cq(cq_, 4, wc), 4);
        ASSERT_EQ(ops().poll_cq(cq_, 16, wc + 4), 7);
        for (int i = 0; i < 11; ++i)
            EXPECT_EQ(wc[i].wr_id, seen++);
        EXPECT_EQ(kernel_.ring().consumer(), kernel_.ring().producer());
    }
}

TEST_F(CqTest, PollsNoMoreThanAsked)
{
    complete(completion(1));
    ibv_wc wc;
    std::memset(&wc, 0xa5, sizeof(wc));
    EXPECT_EQ(ops().poll_cq(cq_, 0, &wc), 0);
    EXPECT_EQ(ops().poll_cq(cq_, -1, &wc), 0);
    EXPECT_EQ(kernel_.ring().consumer(), 0u);
    EXPECT_EQ(*reinterpret_cast<unsigned char *>(&wc), 0xa5);
}

TEST_F(CqTest, ResizeKeepsWhatWaits)
{
    for (uint64_t i = 0; i < 5; ++i)
        complete(completion(i));
    ibv_wc wc;
    ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
    ASSERT_EQ(ops().resize_cq(cq_, 100), 0);
    EXPECT_EQ(cq_->cqe, 127);
    complete(completion(5));
    for (uint64_t i = 1; i < 6; ++i) {
        ASSERT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
        EXPECT_EQ(wc.wr_id, i);
    }
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 0);
}

TEST_F(CqTest, ResizeThatFailsChangesNothing)
{
    complete(completion(1));
    kernel_.fail("resize_cq", EINVAL);
    EXPECT_EQ(ops().resize_cq(cq_, 100), EINVAL);
    ibv_wc wc;
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
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
}

TEST_F(CqTest, IsOutOfUseButSafeWhereItsNewRingCannotBeMapped)
{
    complete(completion(1));
    kernel_.failing_mmaps = 2;
    EXPECT_EQ(ops().resize_cq(cq_, 31), ENOMEM);
    EXPECT_EQ(kernel_.logged.substr(0, 2), "1 ");
    EXPECT_NE(kernel_.logged.find("the CQ was resized"), std::string::npos) << kernel_.logged;
    EXPECT_NE(kernel_.logged.find("Cannot allocate memory"), std::string::npos) << kernel_.logged;
    ibv_wc wc;
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 0);
    EXPECT_EQ(ops().resize_cq(cq_, 63), 0) << "another ring may fit later";
    complete(completion(2));
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
}

TEST_F(CqTest, StaysWhereDestroyingFails)
{
    kernel_.fail("destroy_cq", EBUSY);
    EXPECT_EQ(ops().destroy_cq(cq_), EBUSY);
    complete(completion(1));
    ibv_wc wc;
    EXPECT_EQ(ops().poll_cq(cq_, 1, &wc), 1);
}

class ExtendedCq : public RxeTest, public testing::WithParamInterface<uint32_t> {
protected:
    ExtendedCq()
    {
        ibv_cq_init_attr_ex attr{};
        attr.cqe = 7;
        attr.cq_context = this;
        attr.wc_flags = IBV_WC_STANDARD_FLAGS;
        attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
        attr.flags = GetParam();
        extended_ = ops().create_cq_ex(&context_->context, &attr);
    }
    ~ExtendedCq() override { EXPECT_EQ(ops().destroy_cq(plain()), 0); }

    ibv_cq *plain() { return reinterpret_cast<ibv_cq *>(extended_); }
    int start() { return extended_->start_poll(extended_, &poll_attr_); }
    int next() { return extended_->next_poll(extended_); }
    void end() { extended_->end_poll(extended_); }

    ibv_cq_ex *extended_;
    ibv_poll_cq_attr poll_attr_{};
};

TEST_P(ExtendedCq, ReadsEveryField)
{
    ib_uverbs_wc entry = completion(0x1122334455667788);
    entry.status = IBV_WC_REM_OP_ERR;
    entry.wc_flags |= kKernelWithInvalidate;
    complete(entry);
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(extended_->wr_id, 0x1122334455667788u);
    EXPECT_EQ(extended_->status, IBV_WC_REM_OP_ERR);
    EXPECT_EQ(extended_->read_opcode(extended_), IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(extended_->read_vendor_err(extended_), 0x11111111u);
    EXPECT_EQ(extended_->read_byte_len(extended_), 0x22222222u);
    EXPECT_EQ(extended_->read_imm_data(extended_), 0x33333333u);
    EXPECT_EQ(extended_->read_qp_num(extended_), 0x444444u);
    EXPECT_EQ(extended_->read_src_qp(extended_), 0x555555u);
    EXPECT_EQ(extended_->read_wc_flags(extended_), unsigned{IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_WITH_INV});
    EXPECT_EQ(extended_->read_slid(extended_), 0x7777u);
    EXPECT_EQ(extended_->read_sl(extended_), 0x8);
    EXPECT_EQ(extended_->read_dlid_path_bits(extended_), 0x99);
    end();
    EXPECT_EQ(start(), ENOENT);
}

TEST_P(ExtendedCq, TakesEachOnce)
{
    EXPECT_EQ(start(), ENOENT);
    uint64_t put = 0, seen = 0;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 5; ++i)
            complete(completion(put++));
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
        complete(completion(put++));
        end();  // takes none that came meanwhile
        ASSERT_EQ(start(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        end();
        EXPECT_EQ(start(), ENOENT);
        EXPECT_EQ(kernel_.ring().consumer(), kernel_.ring().producer());
    }
}

TEST_P(ExtendedCq, GivesEachPlaceBackWithTheNext)
{
    uint64_t put = 0, seen = 0;
    for (int round = 0; round < 10;
         ++round) {  // runs that start at every place of the ring, most past its end
        for (int i = 0; i < 5; ++i)
            complete(completion(put++));
        const uint32_t first = kernel_.ring().consumer();
        ASSERT_EQ(start(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        EXPECT_EQ(kernel_.ring().consumer(), first);
        for (uint32_t i = 1; i < 5; ++i) {
            ASSERT_EQ(next(), 0);
            EXPECT_EQ(extended_->wr_id, seen++);
            EXPECT_EQ(kernel_.ring().consumer(), (first + i) & 7);
        }
        complete(completion(put++));  // comes while the others are read
        ASSERT_EQ(next(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        EXPECT_EQ(next(), ENOENT);
        EXPECT_EQ(next(), ENOENT);
        EXPECT_EQ(kernel_.ring().consumer(), kernel_.ring().producer());
        complete(completion(put++));
        ASSERT_EQ(next(), 0);
        EXPECT_EQ(extended_->wr_id, seen++);
        end();
        EXPECT_EQ(kernel_.ring().consumer(), kernel_.ring().producer());
    }
}

TEST_P(ExtendedCq, KnowsNoPollAttributes)
{
    complete(completion(1));
    poll_attr_.comp_mask = 1;
    EXPECT_EQ(start(), EINVAL);
    poll_attr_.comp_mask = 0;
    EXPECT_EQ(start(), 0);
    end();
}

INSTANTIATE_TEST_SUITE_P(Locking, ExtendedCq, testing::Values(0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED));

TEST_F(CqTest, RefusesFieldsAndFlagsThatRxeLacks)
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

}  // namespace
}  // namespace rxe::test
