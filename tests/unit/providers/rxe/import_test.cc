// SPDX-License-Identifier: BSD-2-Clause
// Objects of other processes, and memory that is of no process.
#include <cstring>

#include "fake_kernel.hh"
#include "rxe/context.hh"

namespace rxe::test {
namespace {

class Import : public RxeTest {};

TEST_F(Import, OfADeviceDoesWithoutADescription)
{
    kernel_.fail("query_context", EOPNOTSUPP);
    verbs_context *imported = context_import(nullptr, kernel_.fd());
    ASSERT_NE(imported, nullptr);
    EXPECT_EQ(imported->context.num_comp_vectors, 1);
    EXPECT_EQ(kernel_.count("get_context"), 1) << "that of the test's own context";
    ops().free_context(&imported->context);
}

TEST_F(Import, OfADeviceTakesTheDescriptionThatThereIs)
{
    verbs_context *imported = context_import(nullptr, kernel_.fd());
    ASSERT_NE(imported, nullptr);
    EXPECT_EQ(imported->context.num_comp_vectors, 3);
    ops().free_context(&imported->context);
}

TEST_F(Import, OfADeviceFailsWithoutLeftovers)
{
    for (int error : {EINVAL, EIO, EPROTONOSUPPORT, ENOTTY}) {
        const int before = kernel_.count("uninit_context");
        kernel_.fail("query_context", error);
        errno = 0;
        EXPECT_EQ(context_import(nullptr, kernel_.fd()), nullptr);
        EXPECT_EQ(errno, error);
        EXPECT_EQ(kernel_.count("uninit_context"), before + 1);
    }
}

TEST_F(Import, OfADomainKnowsWhetherThereIsOne)
{
    ibv_pd *pd = ops().import_pd(&context_->context, 1);
    ASSERT_NE(pd, nullptr);
    EXPECT_EQ(pd->handle, 1u);
    EXPECT_EQ(pd->context, &context_->context);
    ops().unimport_pd(pd);
    EXPECT_EQ(kernel_.count("dealloc_pd"), 0);
    errno = 0;
    EXPECT_EQ(ops().import_pd(&context_->context, 2), nullptr);
    EXPECT_EQ(errno, ENOENT);
    kernel_.fail("advise_mr", EINVAL);
    EXPECT_EQ(ops().import_pd(&context_->context, 1), nullptr);
    EXPECT_EQ(errno, EINVAL) << "an object of another kind";
    for (int error : {EIO, ENOMEM}) {
        kernel_.fail("advise_mr", error);
        errno = 0;
        EXPECT_EQ(ops().import_pd(&context_->context, 1), nullptr);
        EXPECT_EQ(errno, error) << "a device that is gone, say";
    }
    for (int error : {EPROTONOSUPPORT, ENOTTY}) {
        kernel_.fail("advise_mr", error);
        pd = ops().import_pd(&context_->context, 1);
        ASSERT_NE(pd, nullptr) << "older kernels cannot tell";
        ops().unimport_pd(pd);
    }
}

TEST_F(Import, OfARegionAsksForItsKeys)
{
    ibv_mr *mr = ops().import_mr(pd_, 9);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(mr->handle, 9u);
    EXPECT_EQ(mr->lkey, 0x77u);
    EXPECT_EQ(mr->rkey, 0x78u);
    EXPECT_EQ(mr->length, 5000u);
    EXPECT_EQ(mr->pd, pd_);
    ops().unimport_mr(mr);
    EXPECT_EQ(kernel_.count("dereg_mr"), 0) << "the region is its owner's";
    mr = ops().import_mr(pd_, 9);
    EXPECT_EQ(ops().dereg_mr(verbs_get_mr(mr)), 0);
    EXPECT_EQ(kernel_.count("dereg_mr"), 1) << "unless it is destroyed for all";
    kernel_.fail("query_mr", ENOENT);
    errno = 0;
    EXPECT_EQ(ops().import_mr(pd_, 9), nullptr);
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(Import, OfADmabufIsTheKernelsToRefuse)
{
    kernel_.fail("reg_dmabuf_mr", EOPNOTSUPP);
    errno = 0;
    EXPECT_EQ(ops().reg_dmabuf_mr(pd_, 0, 4096, 0, 9, 0), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    ibv_mr *mr = ops().reg_dmabuf_mr(pd_, 0, 4096, 0, 9, 0);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(ops().dereg_mr(verbs_get_mr(mr)), 0);
}

TEST_F(Import, OfNothingIsABufferOfItsOwn)
{
    ibv_buf *buf = nullptr;
    auto *memory = static_cast<char *>(ops().alloc_buf(pd_, 10000, &buf));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
    EXPECT_EQ(buf->dmabuf_fd, -1);
    std::memset(memory, 1, 10000);
    buf->addr = memory;
    buf->size = 10000;
    ops().free_buf(buf);
    errno = 0;
    buf = nullptr;
    EXPECT_EQ(ops().alloc_buf(pd_, 0, &buf), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(ops().alloc_buf(pd_, SIZE_MAX / 2, &buf), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(buf, nullptr);
}

}  // namespace
}  // namespace rxe::test
