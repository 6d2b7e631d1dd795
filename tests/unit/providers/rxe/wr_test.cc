// SPDX-License-Identifier: BSD-2-Clause
// Batches of ibv_wr_*: what posts, what does not, and which error ibv_wr_complete tells.
#include "fake_kernel.hh"

namespace rxe::test {
namespace {

constexpr uint64_t kRcOps = 0x3ff;

class Wr : public RxeTest {
protected:
    ibv_qp_ex *extended(ibv_qp_type type, uint64_t ops)
    {
        return reinterpret_cast<ibv_qp_ex *>(make_qp(type, ops));
    }

    static void write(ibv_qp_ex *qp, uint64_t wr_id)
    {
        qp->wr_id = wr_id;
        qp->wr_rdma_write(qp, 1, 2);
        qp->wr_set_sge(qp, 3, 4, 5);
    }

    void expect_nothing_posted() const
    {
        EXPECT_EQ(kernel_.ring().producer(), 0u);
        EXPECT_EQ(kernel_.count("doorbell"), 0);
    }

    /// Completes a batch whose first request is good and whose second is `bad`.
    int complete_with(ibv_qp_ex *qp, void (*bad)(ibv_qp_ex *))
    {
        qp->wr_start(qp);
        write(qp, 1);
        bad(qp);
        write(qp, 3);
        const int error = qp->wr_complete(qp);
        expect_nothing_posted();
        return error;
    }
};

TEST_F(Wr, PostsABatchWithOneDoorbell)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    qp->wr_start(qp);
    for (uint64_t i = 0; i < 7; ++i)
        write(qp, i);
    EXPECT_EQ(qp->wr_complete(qp), 0);
    EXPECT_EQ(kernel_.ring().producer(), 7u);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    for (uint32_t i = 0; i < 7; ++i) {
        const auto *wqe = reinterpret_cast<const rxe_send_wqe *>(kernel_.ring().element(i));
        EXPECT_EQ(wqe->wr.wr_id, i);
        EXPECT_EQ(wqe->ssn, i);
        EXPECT_EQ(wqe->dma.length, 5u);
    }
}

TEST_F(Wr, AnEmptyBatchMakesNoSystemCall)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    qp->wr_start(qp);
    EXPECT_EQ(qp->wr_complete(qp), 0);
    expect_nothing_posted();
}

TEST_F(Wr, AbortPostsNothing)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    qp->wr_start(qp);
    write(qp, 1);
    write(qp, 2);
    qp->wr_abort(qp);
    expect_nothing_posted();
    qp->wr_start(qp);
    write(qp, 9);
    EXPECT_EQ(qp->wr_complete(qp), 0);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
    const auto *wqe = reinterpret_cast<const rxe_send_wqe *>(kernel_.ring().element(0));
    EXPECT_EQ(wqe->wr.wr_id, 9u);
    EXPECT_EQ(wqe->ssn, 0u);
}

TEST_F(Wr, RefusesBeforeReadyToSend)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    qp->qp_base.state = IBV_QPS_INIT;
    qp->wr_start(qp);
    write(qp, 1);
    EXPECT_EQ(qp->wr_complete(qp), EINVAL);
    expect_nothing_posted();
}

TEST_F(Wr, TheFirstErrorDecides)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    EXPECT_EQ(complete_with(qp,
                            [](ibv_qp_ex *bad) {
                                ibv_sge list[5] = {};
                                bad->wr_send(bad);
                                bad->wr_set_sge_list(bad, 5, list);
                                bad->wr_send_tso(bad, nullptr, 0, 0);
                            }),
              ENOSPC);
    EXPECT_EQ(complete_with(qp, [](ibv_qp_ex *bad) { bad->wr_send_tso(bad, nullptr, 0, 0); }), EINVAL);
}

TEST_F(Wr, RefusesWhatDoesNotFit)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    EXPECT_EQ(complete_with(qp,
                            [](ibv_qp_ex *bad) {
                                char data[65] = {};
                                bad->wr_send(bad);
                                bad->wr_set_inline_data(bad, data, sizeof(data));
                            }),
              ENOSPC);
    EXPECT_EQ(complete_with(qp,
                            [](ibv_qp_ex *bad) {
                                char data[60] = {};
                                const ibv_data_buf list[2] = {{data, 60}, {data, 5}};
                                bad->wr_send(bad);
                                bad->wr_set_inline_data_list(bad, 2, list);
                            }),
              ENOSPC);
    EXPECT_EQ(complete_with(qp,
                            [](ibv_qp_ex *bad) {
                                for (uint64_t i = 0; i < 7; ++i)
                                    write(bad, i);
                            }),
              ENOSPC);
}

TEST_F(Wr, RefusesSettersThatDoNotFitTheOperation)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    static char data[8];
    static ibv_mw type1 = {.context = nullptr, .pd = nullptr, .rkey = 1, .handle = 0, .type = IBV_MW_TYPE_1};
    static const ibv_mw_bind_info kInfo = {};
    void (*const cases[])(ibv_qp_ex *) = {
        [](ibv_qp_ex *bad) {
            bad->wr_local_inv(bad, 1);
            bad->wr_set_sge(bad, 1, 2, 3);
        },
        [](ibv_qp_ex *bad) {
            bad->wr_rdma_read(bad, 1, 2);
            bad->wr_set_inline_data(bad, data, 8);
        },
        [](ibv_qp_ex *bad) {
            bad->wr_send(bad);
            bad->wr_set_ud_addr(bad, nullptr, 1, 2);
        },
        [](ibv_qp_ex *bad) {
            bad->wr_send(bad);
            bad->wr_set_xrc_srqn(bad, 1);
        },
        [](ibv_qp_ex *bad) { bad->wr_atomic_fetch_add(bad, 1, 8, 1); },
        [](ibv_qp_ex *bad) {
            bad->wr_atomic_fetch_add(bad, 1, 4, 1);
            bad->wr_set_sge(bad, 1, 2, 8);
        },
        [](ibv_qp_ex *bad) { bad->wr_bind_mw(bad, &type1, 2, &kInfo); },
        [](ibv_qp_ex *bad) { bad->wr_flush(bad, 1, 2, 3, 1, 0); },      // not on this device
        [](ibv_qp_ex *bad) { bad->wr_atomic_write(bad, 1, 8, data); },  // not on this device
    };
    for (size_t i = 0; i < std::size(cases); ++i)
        EXPECT_EQ(complete_with(qp, cases[i]), EINVAL) << "case " << i;

    qp->wr_start(qp);
    qp->wr_set_sge(qp, 1, 2, 3);  // of no operation
    EXPECT_EQ(qp->wr_complete(qp), EINVAL);
    expect_nothing_posted();
}

TEST_F(Wr, TheLastSetterCounts)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    char data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ibv_sge list[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    qp->wr_start(qp);
    qp->wr_send(qp);
    qp->wr_set_sge_list(qp, 3, list);
    qp->wr_set_inline_data(qp, data, 8);
    qp->wr_send(qp);
    qp->wr_set_inline_data(qp, data, 8);
    qp->wr_set_sge_list(qp, 3, list);
    EXPECT_EQ(qp->wr_complete(qp), 0);
    const auto *first = reinterpret_cast<const rxe_send_wqe *>(kernel_.ring().element(0));
    EXPECT_EQ(first->dma.num_sge, 0u);
    EXPECT_EQ(first->dma.length, 8u);
    EXPECT_EQ(first->wr.send_flags, unsigned{IBV_SEND_INLINE});
    const auto *second = reinterpret_cast<const rxe_send_wqe *>(kernel_.ring().element(1));
    EXPECT_EQ(second->dma.num_sge, 3u);
    EXPECT_EQ(second->dma.length, 15u);
    EXPECT_EQ(second->wr.send_flags, 0u);
}

TEST_F(Wr, FlushTakesWhatAMessageCanBe)
{
    kernel_.capabilities = IB_UVERBS_DEVICE_FLUSH_PERSISTENT;
    reopen();
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps | IBV_QP_EX_WITH_FLUSH);
    qp->wr_start(qp);
    qp->wr_flush(qp, 1, 2, size_t{UINT32_MAX} + 1, 1, 0);
    EXPECT_EQ(qp->wr_complete(qp), EINVAL);
    expect_nothing_posted();
}

TEST_F(Wr, DatagramsNeedAnAddress)
{
    ibv_qp_ex *qp = extended(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
    ibv_ah_attr attr{};
    attr.is_global = 1;
    ibv_ah *ah = ops().create_ah(pd_, &attr);
    qp->wr_start(qp);
    qp->wr_send(qp);
    qp->wr_set_ud_addr(qp, ah, 0x1234, 0x5678);
    qp->wr_set_sge(qp, 3, 4, 5);
    EXPECT_EQ(qp->wr_complete(qp), 0);
    EXPECT_EQ(words(kernel_.ring().element(0), 224), words({{12, 2},
                                                            {24, 0x1234},
                                                            {28, 0x5678},
                                                            {36, 5},
                                                            {184, 5},
                                                            {188, 5},
                                                            {196, 1},
                                                            {208, 4},
                                                            {216, 5},
                                                            {220, 3}}));
    qp->wr_start(qp);
    qp->wr_send(qp);
    qp->wr_set_sge(qp, 3, 4, 5);
    EXPECT_EQ(qp->wr_complete(qp), EINVAL);
    qp->wr_start(qp);
    qp->wr_send(qp);
    qp->wr_set_ud_addr(qp, nullptr, 1, 2);
    EXPECT_EQ(qp->wr_complete(qp), EINVAL);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
    EXPECT_EQ(ops().destroy_ah(ah), 0);
}

TEST_F(Wr, TellsOfAGoneDevice)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    kernel_.fail("doorbell", EIO);
    qp->wr_start(qp);
    write(qp, 1);
    EXPECT_EQ(qp->wr_complete(qp), EIO);
}

TEST_F(Wr, LeavesNothingInTheQueueThatTheDriverRefuses)
{
    ibv_qp_ex *qp = extended(IBV_QPT_RC, kRcOps);
    kernel_.fail("doorbell", EINVAL);
    qp->wr_start(qp);
    write(qp, 1);
    write(qp, 2);
    EXPECT_EQ(qp->wr_complete(qp), EINVAL);
    EXPECT_EQ(kernel_.ring().producer(), 0u);
    qp->wr_start(qp);
    write(qp, 3);
    EXPECT_EQ(qp->wr_complete(qp), 0);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
}

}  // namespace
}  // namespace rxe::test
