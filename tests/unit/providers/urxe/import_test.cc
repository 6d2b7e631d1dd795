// SPDX-License-Identifier: BSD-2-Clause
// Objects that the process that made them imports itself.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

#define EXPECT_FAILS(call, error) \
    do {                          \
        errno = 0;                \
        EXPECT_EQ(call, nullptr); \
        EXPECT_EQ(errno, error);  \
    } while (0)

class Import : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        imported_ = ibv_import_device(fcntl(context_->cmd_fd, F_DUPFD_CLOEXEC, 0));
        ASSERT_NE(imported_, nullptr) << strerror(errno);
        at_end([this] { return ibv_close_device(imported_); });
    }

    ibv_context *imported_ = nullptr;
    uint8_t memory_[256] = {};
};

TEST_F(Import, GivesADeviceOfItsOwn)
{
    EXPECT_STREQ(ibv_get_device_name(imported_->device), "urxe_lo");
    EXPECT_NE(imported_->async_fd, context_->async_fd);
    EXPECT_NE(imported_->cmd_fd, context_->cmd_fd);
    EXPECT_EQ(imported_->num_comp_vectors, 1);
    ibv_device_attr attr;
    EXPECT_EQ(ibv_query_device(imported_, &attr), 0);
    // What is made in it is its own.
    ibv_pd *pd = ibv_alloc_pd(imported_);
    ASSERT_NE(pd, nullptr);
    EXPECT_FAILS(ibv_import_pd(imported_, pd->handle), ENOENT);
    EXPECT_FAILS(ibv_import_pd(context_, pd->handle), ENOENT);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(Import, OfADomainLeavesItToItsMaker)
{
    ibv_pd *pd = ibv_import_pd(imported_, pd_->handle);
    ASSERT_NE(pd, nullptr);
    ibv_mr *mr = ibv_reg_mr(pd, memory_, sizeof memory_, kAllAccess);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
    ibv_unimport_pd(pd);  // nor does that take away what is in use
    EXPECT_EQ(pd->handle, pd_->handle);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), EOPNOTSUPP);
    ibv_parent_domain_init_attr attr = {};
    attr.pd = pd;
    ibv_pd *parent = ibv_alloc_parent_domain(imported_, &attr);
    ASSERT_NE(parent, nullptr);
    ibv_unimport_pd(parent);
    EXPECT_EQ(ibv_dealloc_pd(parent), 0);
    ibv_unimport_pd(pd);
    ibv_unimport_pd(pd_);
    EXPECT_EQ(pd_->context, context_) << "it is not imported";
}

TEST_F(Import, OfADomainThatGoes)
{
    ibv_pd *first = ibv_alloc_pd(context_);
    ASSERT_NE(first, nullptr);
    ibv_pd *pd = ibv_import_pd(imported_, first->handle);
    ASSERT_NE(pd, nullptr);
    const uint32_t handle = first->handle;
    EXPECT_EQ(ibv_dealloc_pd(first), 0);
    EXPECT_FAILS(ibv_import_pd(imported_, handle), ENOENT);
    ibv_unimport_pd(pd);
}

TEST_F(Import, TakesTheOriginalsKeys)
{
    ibv_mr *original = make_mr(memory_, sizeof memory_);
    ibv_pd *pd = ibv_import_pd(imported_, pd_->handle);
    ASSERT_NE(pd, nullptr);
    ibv_mr *mr = ibv_import_mr(pd, original->handle);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(mr->addr, nullptr);
    EXPECT_EQ(mr->length, sizeof memory_);
    EXPECT_EQ(mr->lkey, original->lkey);
    EXPECT_EQ(mr->rkey, original->rkey);
    EXPECT_EQ(mr->pd, pd);
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
    ibv_unimport_mr(mr);
    // The context that it was made in takes it as well.
    mr = ibv_import_mr(pd_, original->handle);
    ASSERT_NE(mr, nullptr);
    ibv_unimport_mr(mr);
    ibv_unimport_pd(pd);
    const Pair pair = make_pair();
    const ibv_sge sge = {address_of(memory_), 8, original->lkey};
    EXPECT_EQ(post(pair.qp[0], IBV_WR_RDMA_WRITE, sge, address_of(memory_) + 8, original->rkey), 0);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
}

/// Regions that were not deregistered go with their context.
TEST_F(Import, EndsWithTheContext)
{
    const Pair pair = make_pair();
    ibv_mr *own = make_mr(memory_, sizeof memory_);
    ibv_context *context = ibv_open_device(imported_->device);
    ASSERT_NE(context, nullptr);
    ibv_context *other = ibv_import_device(fcntl(context->cmd_fd, F_DUPFD_CLOEXEC, 0));
    ASSERT_NE(other, nullptr);
    // Static: what is forgotten is no leak of the test's.
    static ibv_pd *pd;
    static ibv_mr *mr;
    pd = ibv_alloc_pd(context);
    ASSERT_NE(pd, nullptr);
    mr = ibv_reg_mr(pd, memory_, sizeof memory_, kAllAccess);
    ASSERT_NE(mr, nullptr);
    const uint32_t handle = mr->handle;
    ibv_pd *imported_pd = ibv_import_pd(other, pd->handle);
    ASSERT_NE(imported_pd, nullptr);
    EXPECT_EQ(ibv_close_device(context), 0);
    EXPECT_FAILS(ibv_import_mr(imported_pd, handle), ENOENT);
    ibv_unimport_pd(imported_pd);
    EXPECT_EQ(ibv_close_device(other), 0);
    // What other contexts have stays.
    const ibv_sge sge = {address_of(memory_), 8, own->lkey};
    EXPECT_EQ(post(pair.qp[0], IBV_WR_RDMA_WRITE, sge, address_of(memory_) + 8, own->rkey), 0);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
}

TEST_F(Import, OfANullRegion)
{
    ibv_mr *original = ibv_alloc_null_mr(pd_);
    ASSERT_NE(original, nullptr);
    ibv_mr *mr = ibv_import_mr(pd_, original->handle);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(mr->lkey, original->lkey);
    EXPECT_EQ(mr->rkey, 0u);
    EXPECT_EQ(mr->length, SIZE_MAX);
    ibv_unimport_mr(mr);
    EXPECT_EQ(ibv_dereg_mr(original), 0);
}

TEST_F(Import, MayTakeTheRegionAway)
{
    const Pair pair = make_pair();
    ibv_mr *target = make_mr(memory_, sizeof memory_);
    ibv_mr *original = ibv_reg_mr(pd_, memory_, sizeof memory_, kAllAccess);
    ASSERT_NE(original, nullptr);
    ibv_mr *mr = ibv_import_mr(pd_, original->handle);
    ibv_mr *other = ibv_import_mr(pd_, original->handle);
    ASSERT_NE(mr, nullptr);
    ASSERT_NE(other, nullptr);
    ibv_mw *window = ibv_alloc_mw(pd_, IBV_MW_TYPE_1);
    ASSERT_NE(window, nullptr);
    ibv_mw_bind bind = {};
    bind.bind_info = {.mr = original, .addr = address_of(memory_), .length = 8, .mw_access_flags = 0};
    ASSERT_EQ(ibv_bind_mw(pair.qp[0], window, &bind), 0);
    EXPECT_EQ(ibv_dereg_mr(mr), EBUSY);
    EXPECT_EQ(ibv_dealloc_mw(window), 0);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_dereg_mr(original), ENOENT);
    EXPECT_EQ(ibv_dereg_mr(other), ENOENT);
    EXPECT_FAILS(ibv_import_mr(pd_, original->handle), ENOENT);
    const ibv_sge sge = {address_of(memory_), 8, original->lkey};
    EXPECT_EQ(post(pair.qp[0], IBV_WR_RDMA_WRITE, sge, address_of(memory_) + 8, target->rkey), 0);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_LOC_PROT_ERR);
    ibv_unimport_mr(other);
    ibv_unimport_mr(original);
}

TEST_F(Import, LeavesMemoryOfBuffersToTheirMaker)
{
    ibv_alloc_dm_attr attr = {};
    attr.length = 4096;
    ibv_dm *dm = ibv_alloc_dm(context_, &attr);
    ASSERT_NE(dm, nullptr);
    ibv_dm *imported = ibv_import_dm(imported_, dm->handle);
    ASSERT_NE(imported, nullptr);
    EXPECT_EQ(ibv_memcpy_to_dm(imported, 8, "imported", 8), 0);
    char text[8];
    EXPECT_EQ(ibv_memcpy_from_dm(text, dm, 8, sizeof text), 0);
    EXPECT_EQ(std::memcmp(text, "imported", sizeof text), 0);
    EXPECT_EQ(ibv_memcpy_from_dm(text, imported, 4096, 1), EINVAL);
    EXPECT_EQ(ibv_free_dm(imported), EOPNOTSUPP);
    ibv_unimport_dm(dm);  // which was not imported
    EXPECT_EQ(ibv_free_dm(dm), 0);
    EXPECT_EQ(ibv_memcpy_from_dm(text, imported, 8, sizeof text), EINVAL);
    ibv_unimport_dm(imported);
    // A buffer that is no device memory is none.
    ibv_buf *buf = nullptr;
    ASSERT_NE(ibv_alloc_buf(pd_, 4096, &buf), nullptr);
    for (uint32_t index = 1; index < 64; ++index)
        EXPECT_FAILS(ibv_import_dm(context_, 1U << 30 | index), ENOENT);
    ibv_free_buf(buf);
}

}  // namespace
}  // namespace urxe::test
