// SPDX-License-Identifier: BSD-2-Clause
// Regions of urxe: what the library is told of them, null regions, and memory that is paged on demand.
#include <infiniband/driver.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

constexpr int kOnDemand = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                          IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

class Region : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        pages_ = static_cast<char *>(
            mmap(nullptr, 4 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ASSERT_NE(pages_, MAP_FAILED);
        at_end([this] { return munmap(pages_, 4 * page_); });
        std::memset(memory_, 0x11, sizeof memory_);
        mr_ = make_mr(memory_, sizeof memory_);
    }
    /// Takes a page away.
    void remove(size_t page) { ASSERT_EQ(munmap(pages_ + page * page_, page_), 0); }
    ibv_sge own(size_t offset, uint32_t length) const
    {
        return {.addr = address_of(memory_ + offset), .length = length, .lkey = mr_->lkey};
    }
    /// How a request ends between two QPs of its own.
    ibv_wc_status outcome(ibv_wr_opcode opcode, const ibv_sge &sge, uint64_t remote, uint32_t rkey)
    {
        const Pair pair = make_pair();
        EXPECT_EQ(post(pair.qp[0], opcode, sge, remote, rkey), 0);
        return wait(pair.cq[0]).status;
    }

    size_t page_ = 0;
    char *pages_ = nullptr;
    char memory_[8192];
    ibv_mr *mr_ = nullptr;
};

TEST_F(Region, ToldToTheLibrary)
{
    EXPECT_EQ(verbs_get_mr(mr_)->mr_type, IBV_MR_TYPE_MR);
    EXPECT_EQ(verbs_get_mr(mr_)->access, kAllAccess);
    ibv_mr *null = ibv_alloc_null_mr(pd_);
    ASSERT_NE(null, nullptr);
    EXPECT_EQ(verbs_get_mr(null)->mr_type, IBV_MR_TYPE_NULL_MR);
    errno = 0;
    EXPECT_EQ(ibv_rereg_mr(null, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              IBV_REREG_MR_ERR_INPUT);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
    EXPECT_EQ(ibv_dereg_mr(null), 0);
}

TEST_F(Region, NullSkipsWhatIsReadInto)
{
    ibv_mr *null = ibv_alloc_null_mr(pd_);
    ASSERT_NE(null, nullptr);
    const Pair pair = make_pair();
    // The middle of what is read is thrown away.
    ibv_sge list[] = {own(0, 8), {.addr = 0, .length = 2000, .lkey = null->lkey}};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_RDMA_READ;
    wr.sg_list = list;
    wr.num_sge = 2;
    wr.send_flags = IBV_SEND_SIGNALED;
    std::memset(memory_ + 4096, 0x22, 4096);
    wr.wr.rdma = {.remote_addr = address_of(memory_ + 4096), .rkey = mr_->rkey};
    ASSERT_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0);
    const ibv_wc wc = wait(pair.cq[0]);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.byte_len, 2008u);
    EXPECT_EQ(memory_[7], 0x22);
    EXPECT_EQ(memory_[8], 0x11);
    // A null region is no target for others.
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, own(0, 8), 0, null->lkey), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(ibv_dereg_mr(null), 0);
}

TEST_F(Region, OnDemandMayComeLater)
{
    remove(1);
    ibv_mr *mr = make_mr(pages_, 3 * page_, kOnDemand);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, own(0, 100), address_of(pages_ + page_), mr->rkey),
              IBV_WC_REM_OP_ERR);
    ASSERT_NE(
        mmap(pages_ + page_, page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
        MAP_FAILED);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, own(0, 100), address_of(pages_ + page_), mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(pages_[page_ + 99], 0x11);
}

TEST_F(Region, MissingMemoryIsAnError)
{
    ibv_mr *mr = make_mr(pages_, 3 * page_, kOnDemand);
    remove(1);
    const uint64_t missing = address_of(pages_ + page_);
    const ibv_sge gone = {.addr = missing, .length = 100, .lkey = mr->lkey};
    EXPECT_EQ(outcome(IBV_WR_RDMA_READ, own(0, 100), missing, mr->rkey), IBV_WC_REM_OP_ERR);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, gone, address_of(memory_), mr_->rkey), IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(outcome(IBV_WR_RDMA_READ, gone, address_of(memory_), mr_->rkey), IBV_WC_LOC_PROT_ERR);
    const Pair atomic = make_pair();
    ibv_sge sge = own(0, 8);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.atomic = {.remote_addr = missing, .compare_add = 1, .swap = 0, .rkey = mr->rkey};
    ASSERT_EQ(ibv_post_send(atomic.qp[0], &wr, &bad), 0);
    EXPECT_EQ(wait(atomic.cq[0]).status, IBV_WC_REM_OP_ERR);
}

/// Of a few bytes and of many, which go different ways.
class Receive : public Region, public testing::WithParamInterface<uint32_t> {};

TEST_P(Receive, IntoMissingMemory)
{
    ibv_mr *mr = make_mr(pages_, 3 * page_, kOnDemand);
    remove(1);
    const Pair pair = make_pair();
    post_receive(pair.qp[1], 7, {.addr = address_of(pages_ + page_), .length = GetParam(), .lkey = mr->lkey});
    ASSERT_EQ(post(pair.qp[0], IBV_WR_SEND, own(0, GetParam())), 0);
    const ibv_wc received = wait(pair.cq[1]);
    EXPECT_EQ(received.wr_id, 7u);
    EXPECT_EQ(received.status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_REM_OP_ERR);
}

TEST_P(Receive, OfDatagramIntoMissingMemory)
{
    ibv_mr *mr = make_mr(pages_, 3 * page_, kOnDemand);
    remove(1);
    const Pair pair = make_pair(IBV_QPT_UD);
    ibv_ah_attr path = path_to(gid_);
    ibv_ah *ah = ibv_create_ah(pd_, &path);
    ASSERT_NE(ah, nullptr);
    at_end([ah] { return ibv_destroy_ah(ah); });
    post_receive(pair.qp[1], 7, {.addr = address_of(pages_ + page_), .length = 4096, .lkey = mr->lkey});
    ibv_sge sge = own(0, GetParam());
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ud = {.ah = ah, .remote_qpn = pair.qp[1]->qp_num, .remote_qkey = kQkey};
    ASSERT_EQ(ibv_post_send(pair.qp[0], &wr, &bad), 0);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
    EXPECT_EQ(wait(pair.cq[1]).status, IBV_WC_LOC_PROT_ERR);
}

INSTANTIATE_TEST_SUITE_P(Lengths, Receive, testing::Values(16, 2000));

TEST_F(Region, ImplicitIsAllMemory)
{
    ibv_mr *all = ibv_reg_mr(pd_, nullptr, SIZE_MAX, kOnDemand);
    ASSERT_NE(all, nullptr);
    at_end([all] { return ibv_dereg_mr(all); });
    const ibv_sge sge = {.addr = address_of(memory_), .length = 100, .lkey = all->lkey};
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, sge, address_of(pages_), all->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(pages_[99], 0x11);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, sge, 0, all->rkey), IBV_WC_REM_OP_ERR);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, sge, UINT64_MAX - 100, all->rkey), IBV_WC_REM_OP_ERR);
    errno = 0;
    EXPECT_EQ(ibv_reg_mr(pd_, memory_, SIZE_MAX, kOnDemand), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(Region, CapabilitiesOfPaging)
{
    ibv_device_attr_ex attr;
    ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
    EXPECT_EQ(attr.odp_caps.general_caps, uint64_t{IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT});
    EXPECT_EQ(attr.odp_caps.per_transport_caps.ud_odp_caps,
              uint32_t{IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV});
    EXPECT_NE(attr.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_ATOMIC, 0u);
    EXPECT_EQ(attr.odp_caps.per_transport_caps.uc_odp_caps & IBV_ODP_SUPPORT_READ, 0u);
}

TEST_F(Region, AdviceBringsPagesIn)
{
    ibv_mr *mr = make_mr(pages_, 4 * page_, kOnDemand);
    ibv_sge sge = {.addr = address_of(pages_), .length = static_cast<uint32_t>(2 * page_), .lkey = mr->lkey};
    ASSERT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), 0);
    unsigned char present[4];
    ASSERT_EQ(mincore(pages_, 4 * page_, present), 0);
    EXPECT_EQ(present[0] & present[1] & 1, 1);
    EXPECT_EQ((present[2] | present[3]) & 1, 0);
    sge.addr += 2 * page_;
    ASSERT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0, &sge, 1), 0);
    ASSERT_EQ(mincore(pages_, 4 * page_, present), 0);
    EXPECT_EQ((present[2] | present[3]) & 1, 0);
}

TEST_F(Region, AdviceThatCannotBe)
{
    const auto advise = [&](ibv_sge sge, ibv_advise_mr_advice advice = IBV_ADVISE_MR_ADVICE_PREFETCH) {
        return ibv_advise_mr(pd_, advice, 0, &sge, 1);
    };
    EXPECT_EQ(advise(own(0, sizeof memory_)), 0);
    EXPECT_EQ(advise(own(1, sizeof memory_)), EFAULT);
    EXPECT_EQ(advise({.addr = address_of(memory_), .length = 1, .lkey = mr_->lkey ^ 1}), ENOENT);
    EXPECT_EQ(advise({.addr = address_of(memory_), .length = 1, .lkey = mr_->lkey ^ 0x7fffff00}), ENOENT);
    ibv_mr *read_only = make_mr(memory_, sizeof memory_, IBV_ACCESS_REMOTE_READ);
    ibv_sge sge = {.addr = address_of(memory_), .length = 1, .lkey = read_only->lkey};
    EXPECT_EQ(advise(sge), 0);
    EXPECT_EQ(advise(sge, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE), EPERM);
    EXPECT_EQ(advise(sge, static_cast<ibv_advise_mr_advice>(99)), EOPNOTSUPP);
    EXPECT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH, 8, &sge, 1), EINVAL);
    EXPECT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 0), EINVAL);
    ibv_pd *other = ibv_alloc_pd(context_);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(ibv_advise_mr(other, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EPERM);
    EXPECT_EQ(ibv_dealloc_pd(other), 0);
    ibv_mr *paged = make_mr(pages_, 2 * page_, kOnDemand);
    remove(1);
    EXPECT_EQ(
        advise({.addr = address_of(pages_), .length = static_cast<uint32_t>(2 * page_), .lkey = paged->lkey}),
        EFAULT);
}

}  // namespace
}  // namespace urxe::test
