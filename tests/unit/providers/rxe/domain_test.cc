// SPDX-License-Identifier: BSD-2-Clause
// Parent and thread domains: what is in which, and whose memory it takes.
#include "rxe/domain.hh"

#include <vector>

#include "fake_kernel.hh"
#include "rxe/cq.hh"
#include "rxe/qp.hh"
#include "rxe/srq.hh"

namespace rxe::test {
namespace {

/// An allocator as a program has it: it counts, and answers what a test wants.
struct Allocator {
    int allocations = 0;
    int frees = 0;
    uint64_t last_type = 0;
    ibv_pd *last_pd = nullptr;
    bool leaves_it_to_the_provider = false;
    bool fails = false;

    static void *alloc(ibv_pd *pd, void *context, size_t size, size_t alignment, uint64_t type)
    {
        auto &self = *static_cast<Allocator *>(context);
        ++self.allocations;
        self.last_type = type;
        self.last_pd = pd;
        if (self.fails)
            return nullptr;
        if (self.leaves_it_to_the_provider)
            return IBV_ALLOCATOR_USE_DEFAULT;
        void *memory = std::aligned_alloc(std::max<size_t>(alignment, 64), (size + 127) & ~size_t{63});
        std::memset(memory, 0xee, size);
        return memory;
    }
    static void free(ibv_pd *pd, void *context, void *memory, uint64_t type)
    {
        auto &self = *static_cast<Allocator *>(context);
        ++self.frees;
        EXPECT_EQ(pd, self.last_pd);
        EXPECT_EQ(type, self.last_type);
        std::free(memory);
    }
};

class Domain : public RxeTest {
protected:
    ibv_pd *parent(ibv_td *td, Allocator *allocator = nullptr)
    {
        ibv_parent_domain_init_attr attr{};
        attr.pd = pd_;
        attr.td = td;
        if (allocator != nullptr) {
            attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
            attr.alloc = Allocator::alloc;
            attr.free = Allocator::free;
            attr.pd_context = allocator;
        }
        return ops().alloc_parent_domain(&context_->context, &attr);
    }

    ibv_td *thread()
    {
        ibv_td_init_attr attr{};
        return ops().alloc_td(&context_->context, &attr);
    }

    ibv_qp *qp_in(ibv_pd *pd)
    {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq_;
        attr.cap = {7, 7, 4, 4, 64};
        attr.qp_type = IBV_QPT_RC;
        return ops().create_qp(pd, &attr);
    }

    ibv_srq *srq_in(ibv_pd *pd)
    {
        ibv_srq_init_attr attr{};
        attr.attr = {.max_wr = 7, .max_sge = 2, .srq_limit = 0};
        return ops().create_srq(pd, &attr);
    }

    ibv_cq_ex *cq_in(ibv_pd *pd)
    {
        ibv_cq_init_attr_ex attr{};
        attr.cqe = 15;
        attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
        attr.parent_domain = pd;
        return ops().create_cq_ex(&context_->context, &attr);
    }
};

TEST_F(Domain, StandsForItsProtectionDomain)
{
    pd_->handle = 0x1234;
    ibv_pd *pd = parent(nullptr);
    ASSERT_NE(pd, nullptr);
    EXPECT_NE(pd, pd_);
    EXPECT_EQ(pd->handle, 0x1234u);
    EXPECT_EQ(pd->context, &context_->context);
    EXPECT_EQ(ops().dealloc_pd(pd_), EBUSY);
    EXPECT_EQ(kernel_.count("dealloc_pd"), 0);
    EXPECT_EQ(ops().dealloc_pd(pd), 0);
    EXPECT_EQ(kernel_.count("dealloc_pd"), 0) << "which goes on";
}

TEST_F(Domain, OfAThreadGoesAfterThoseInWhichItIs)
{
    ibv_td *td = thread();
    ASSERT_NE(td, nullptr);
    EXPECT_EQ(td->context, &context_->context);
    ibv_pd *first = parent(td);
    ibv_pd *second = parent(td);
    EXPECT_EQ(ops().dealloc_td(td), EBUSY);
    EXPECT_EQ(ops().dealloc_pd(first), 0);
    EXPECT_EQ(ops().dealloc_td(td), EBUSY);
    EXPECT_EQ(ops().dealloc_pd(second), 0);
    EXPECT_EQ(ops().dealloc_td(td), 0);
    ibv_td_init_attr attr = {.comp_mask = 1};
    errno = 0;
    EXPECT_EQ(ops().alloc_td(&context_->context, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(Domain, GoesAfterWhatIsInIt)
{
    ibv_pd *pd = parent(nullptr);
    ibv_qp *qp = qp_in(pd);
    ibv_srq *srq = srq_in(pd);
    ibv_cq_ex *cq = cq_in(pd);
    ASSERT_TRUE(qp != nullptr && srq != nullptr && cq != nullptr);
    EXPECT_EQ(qp->pd, pd);
    EXPECT_EQ(srq->pd, pd);
    EXPECT_EQ(ops().dealloc_pd(pd), EBUSY);
    EXPECT_EQ(ops().destroy_qp(qp), 0);
    EXPECT_EQ(ops().dealloc_pd(pd), EBUSY);
    EXPECT_EQ(ops().destroy_srq(srq), 0);
    EXPECT_EQ(ops().dealloc_pd(pd), EBUSY);
    EXPECT_EQ(ops().destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    EXPECT_EQ(ops().dealloc_pd(pd), 0);
}

TEST_F(Domain, GivesMemoryForWhatIsInIt)
{
    Allocator allocator;
    ibv_pd *pd = parent(nullptr, &allocator);
    ASSERT_NE(pd, nullptr);
    ibv_qp *qp = qp_in(pd);
    ASSERT_NE(qp, nullptr);
    EXPECT_EQ(allocator.allocations, 1);
    EXPECT_EQ(allocator.last_pd, pd);
    EXPECT_EQ(allocator.last_type, uint64_t{RDMA_DRIVER_RXE} << 32);
    EXPECT_EQ(to_qp(qp)->sq.wqe, nullptr) << "it is zeroed first";
    EXPECT_EQ(ops().destroy_qp(qp), 0);
    EXPECT_EQ(allocator.frees, 1);

    ibv_srq *srq = srq_in(pd);
    ASSERT_NE(srq, nullptr);
    EXPECT_EQ(allocator.last_type, (uint64_t{RDMA_DRIVER_RXE} << 32) + 1);
    EXPECT_EQ(ops().destroy_srq(srq), 0);
    ibv_cq_ex *cq = cq_in(pd);
    ASSERT_NE(cq, nullptr);
    EXPECT_EQ(allocator.last_type, (uint64_t{RDMA_DRIVER_RXE} << 32) + 2);
    EXPECT_EQ(ops().destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    EXPECT_EQ(allocator.allocations, 3);
    EXPECT_EQ(allocator.frees, 3);
    EXPECT_EQ(ops().dealloc_pd(pd), 0);
}

TEST_F(Domain, MayLeaveMemoryToTheProviderOrHaveNone)
{
    Allocator allocator;
    ibv_pd *pd = parent(nullptr, &allocator);
    allocator.leaves_it_to_the_provider = true;
    ibv_qp *qp = qp_in(pd);
    ASSERT_NE(qp, nullptr);
    EXPECT_EQ(ops().destroy_qp(qp), 0);
    EXPECT_EQ(allocator.frees, 0);
    allocator.leaves_it_to_the_provider = false;
    allocator.fails = true;
    errno = 0;
    EXPECT_EQ(qp_in(pd), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(ops().dealloc_pd(pd), 0) << "nothing is left in it";
}

TEST_F(Domain, TakesMemoryBackWhereTheKernelRefuses)
{
    Allocator allocator;
    ibv_pd *pd = parent(nullptr, &allocator);
    kernel_.fail("create_qp", ENOMEM);
    EXPECT_EQ(qp_in(pd), nullptr);
    kernel_.fail("create_srq", ENOMEM);
    EXPECT_EQ(srq_in(pd), nullptr);
    kernel_.fail("create_cq", ENOMEM);
    EXPECT_EQ(cq_in(pd), nullptr);
    EXPECT_EQ(allocator.allocations, 3);
    EXPECT_EQ(allocator.frees, 3);
    EXPECT_EQ(ops().dealloc_pd(pd), 0);
}

TEST_F(Domain, WithAThreadNeedsNoLocks)
{
    ibv_td *td = thread();
    ibv_pd *with = parent(td);
    ibv_pd *without = parent(nullptr);
    ibv_qp *qp = qp_in(with);
    ibv_qp *locked_qp = qp_in(without);
    ibv_cq_ex *cq = cq_in(with);
    EXPECT_FALSE(to_qp(qp)->sq.lock.is_needed());
    EXPECT_FALSE(to_qp(qp)->rq.lock.is_needed());
    EXPECT_FALSE(to_cq(cq)->lock.is_needed());
    EXPECT_TRUE(to_qp(locked_qp)->sq.lock.is_needed());
    EXPECT_EQ(ops().destroy_qp(qp), 0);
    EXPECT_EQ(ops().destroy_qp(locked_qp), 0);
    EXPECT_EQ(ops().destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    EXPECT_EQ(ops().dealloc_pd(with), 0);
    EXPECT_EQ(ops().dealloc_pd(without), 0);
    EXPECT_EQ(ops().dealloc_td(td), 0);
}

TEST_F(Domain, RefusesWhatMakesNone)
{
    ibv_pd *nested = parent(nullptr);
    ibv_context other{};
    ibv_pd elsewhere = {.context = &other, .handle = 0};
    ibv_td strange = {.context = &other};
    ibv_parent_domain_init_attr good{};
    good.pd = pd_;
    std::vector<ibv_parent_domain_init_attr> bad(7, good);
    bad[0].pd = nullptr;
    bad[1].pd = nested;
    bad[2].pd = &elsewhere;
    bad[3].td = &strange;
    bad[4].comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC << 1;
    bad[5].comp_mask = bad[6].comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
    bad[5].alloc = Allocator::alloc;
    bad[6].free = Allocator::free;
    for (ibv_parent_domain_init_attr &attr : bad) {
        errno = 0;
        EXPECT_EQ(ops().alloc_parent_domain(&context_->context, &attr), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
    EXPECT_EQ(ops().dealloc_pd(nested), 0);
    errno = 0;
    EXPECT_EQ(cq_in(nullptr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(cq_in(pd_), nullptr) << "a mere protection domain";
    EXPECT_EQ(errno, EINVAL);
    good.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
    ibv_pd *pd = ops().alloc_parent_domain(&context_->context, &good);
    ASSERT_NE(pd, nullptr);
    EXPECT_EQ(ops().dealloc_pd(pd), 0);
}

}  // namespace
}  // namespace rxe::test
