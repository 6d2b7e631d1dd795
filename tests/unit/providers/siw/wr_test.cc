// SPDX-License-Identifier: BSD-2-Clause
// Batches of ibv_wr_*: what posts, what does not, and which error ibv_wr_complete tells.
#include "fake_kernel.hh"

namespace siw::test {
namespace {

class Wr : public SiwTest {
protected:
    Wr() : qp_(reinterpret_cast<ibv_qp_ex *>(make_qp(IBV_QP_EX_WITH_RDMA_WRITE))) {}

    siw_sqe *ring() const { return kernel_.ring<siw_sqe>(1); }

    static void write(ibv_qp_ex *qp, uint64_t wr_id)
    {
        qp->wr_id = wr_id;
        qp->wr_rdma_write(qp, 1, 2);
        qp->wr_set_sge(qp, 3, 4, 5);
    }

    void expect_nothing_posted() const
    {
        for (int i = 0; i < 8; ++i)
            EXPECT_EQ(ring()[i].flags & SIW_WQE_VALID, 0);
        EXPECT_EQ(kernel_.count("doorbell"), 0);
    }

    /// Completes a batch whose first request is good and whose second is `bad`.
    int complete_with(void (*bad)(ibv_qp_ex *))
    {
        qp_->wr_start(qp_);
        write(qp_, 1);
        bad(qp_);
        write(qp_, 3);
        const int error = qp_->wr_complete(qp_);
        expect_nothing_posted();
        return error;
    }

    ibv_qp_ex *qp_;
};

TEST_F(Wr, PostsABatchWithOneDoorbell)
{
    qp_->wr_start(qp_);
    for (uint64_t i = 0; i < 8; ++i)
        write(qp_, i);
    EXPECT_EQ(qp_->wr_complete(qp_), 0);
    for (uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(ring()[i].id, i);
        EXPECT_EQ(ring()[i].flags, SIW_WQE_VALID);
    }
    EXPECT_EQ(kernel_.count("doorbell"), 1);
}

TEST_F(Wr, AnEmptyBatchMakesNoSystemCall)
{
    qp_->wr_start(qp_);
    EXPECT_EQ(qp_->wr_complete(qp_), 0);
    expect_nothing_posted();
}

TEST_F(Wr, AbortPostsNothing)
{
    qp_->wr_start(qp_);
    write(qp_, 1);
    write(qp_, 2);
    qp_->wr_abort(qp_);
    expect_nothing_posted();
    qp_->wr_start(qp_);
    write(qp_, 9);
    EXPECT_EQ(qp_->wr_complete(qp_), 0);
    EXPECT_EQ(ring()[0].id, 9u);
    EXPECT_EQ(ring()[1].flags & SIW_WQE_VALID, 0);
}

TEST_F(Wr, RefusesWhatDoesNotFit)
{
    EXPECT_EQ(complete_with([](ibv_qp_ex *bad) {
                  char data[81] = {};
                  bad->wr_send(bad);
                  bad->wr_set_inline_data(bad, data, sizeof(data));
              }),
              ENOSPC);
    EXPECT_EQ(complete_with([](ibv_qp_ex *bad) {
                  const ibv_sge list[5] = {};
                  bad->wr_send(bad);
                  bad->wr_set_sge_list(bad, 5, list);
              }),
              ENOSPC);
    EXPECT_EQ(complete_with([](ibv_qp_ex *bad) {
                  const ibv_sge list[2] = {};
                  bad->wr_rdma_read(bad, 1, 2);
                  bad->wr_set_sge_list(bad, 2, list);
              }),
              ENOSPC);
    EXPECT_EQ(complete_with([](ibv_qp_ex *bad) {
                  for (uint64_t i = 0; i < 8; ++i)
                      write(bad, i);
              }),
              ENOSPC);
}

TEST_F(Wr, RefusesWhatSiwHasNot)
{
    static char data[8];
    static ibv_mw mw = {.context = nullptr, .pd = nullptr, .rkey = 1, .handle = 0, .type = IBV_MW_TYPE_2};
    static const ibv_mw_bind_info kInfo = {};
    void (*const cases[])(ibv_qp_ex *) = {
        [](ibv_qp_ex *bad) { bad->wr_send_imm(bad, 1); },
        [](ibv_qp_ex *bad) { bad->wr_rdma_write_imm(bad, 1, 2, 3); },
        [](ibv_qp_ex *bad) { bad->wr_atomic_cmp_swp(bad, 1, 8, 2, 3); },
        [](ibv_qp_ex *bad) { bad->wr_atomic_fetch_add(bad, 1, 8, 2); },
        [](ibv_qp_ex *bad) { bad->wr_atomic_write(bad, 1, 8, data); },
        [](ibv_qp_ex *bad) { bad->wr_flush(bad, 1, 2, 3, 1, 0); },
        [](ibv_qp_ex *bad) { bad->wr_send_tso(bad, nullptr, 0, 0); },
        [](ibv_qp_ex *bad) { bad->wr_bind_mw(bad, &mw, 2, &kInfo); },
        [](ibv_qp_ex *bad) {
            bad->wr_send(bad);
            bad->wr_set_ud_addr(bad, nullptr, 1, 2);
        },
        [](ibv_qp_ex *bad) {
            bad->wr_send(bad);
            bad->wr_set_xrc_srqn(bad, 1);
        },
        [](ibv_qp_ex *bad) {
            bad->wr_local_inv(bad, 1);
            bad->wr_set_sge(bad, 1, 2, 3);
        },
        [](ibv_qp_ex *bad) {
            bad->wr_rdma_read(bad, 1, 2);
            bad->wr_set_inline_data(bad, data, 8);
        },
    };
    for (size_t i = 0; i < std::size(cases); ++i)
        EXPECT_EQ(complete_with(cases[i]), EINVAL) << "case " << i;

    qp_->wr_start(qp_);
    qp_->wr_set_sge(qp_, 1, 2, 3);  // of no operation
    EXPECT_EQ(qp_->wr_complete(qp_), EINVAL);
    expect_nothing_posted();
}

TEST_F(Wr, TheFirstErrorDecides)
{
    EXPECT_EQ(complete_with([](ibv_qp_ex *bad) {
                  const ibv_sge list[5] = {};
                  bad->wr_send(bad);
                  bad->wr_set_sge_list(bad, 5, list);
                  bad->wr_send_tso(bad, nullptr, 0, 0);
              }),
              ENOSPC);
}

TEST_F(Wr, TheLastSetterCounts)
{
    char data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const ibv_sge list[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    qp_->wr_start(qp_);
    qp_->wr_send(qp_);
    qp_->wr_set_sge_list(qp_, 3, list);
    qp_->wr_set_inline_data(qp_, data, 8);
    qp_->wr_send(qp_);
    qp_->wr_set_inline_data(qp_, data, 8);
    qp_->wr_set_sge_list(qp_, 3, list);
    EXPECT_EQ(qp_->wr_complete(qp_), 0);
    EXPECT_EQ(ring()[0].flags, SIW_WQE_VALID | SIW_WQE_INLINE);
    EXPECT_EQ(ring()[0].sge[0].length, 8u);
    EXPECT_EQ(ring()[1].flags, SIW_WQE_VALID);
    EXPECT_EQ(ring()[1].num_sge, 3);
    EXPECT_EQ(ring()[1].sge[0].length, 2u);
}

TEST_F(Wr, TakesBackWhatTheDriverRefuses)
{
    kernel_.fail("doorbell", ENOTCONN);
    qp_->wr_start(qp_);
    write(qp_, 1);
    EXPECT_EQ(qp_->wr_complete(qp_), ENOTCONN);
    EXPECT_EQ(ring()[0].flags, 0);
    qp_->wr_start(qp_);
    write(qp_, 2);
    EXPECT_EQ(qp_->wr_complete(qp_), 0);
    EXPECT_EQ(ring()[0].id, 2u);
}

}  // namespace
}  // namespace siw::test
