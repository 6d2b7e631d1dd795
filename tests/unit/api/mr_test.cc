// SPDX-License-Identifier: BSD-2-Clause
// Memory regions and the pages that are kept out of children for them.
#include <rdma/ib_user_ioctl_cmds.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "fake_provider.hh"

namespace {

std::set<uintptr_t> withheld;  // pages, by number
int advice_error = 0;          // of the next advice

}  // namespace

// What the library asks for on behalf of fork; the rest is the system's.
extern "C" __attribute__((visibility("default"))) int madvise(void *addr, size_t length, int advice) noexcept
{
    if (advice != MADV_DONTFORK && advice != MADV_DOFORK)
        return static_cast<int>(syscall(SYS_madvise, addr, length, advice));
    if (advice_error != 0) {
        errno = std::exchange(advice_error, 0);
        return -1;
    }
    for (uintptr_t page = reinterpret_cast<uintptr_t>(addr) / 4096;
         page < (reinterpret_cast<uintptr_t>(addr) + length + 4095) / 4096; ++page) {
        if (advice == MADV_DONTFORK)
            withheld.insert(page);
        else
            withheld.erase(page);
    }
    return 0;
}

namespace verbs::test {
namespace {

constexpr size_t kPage = 4096;
constexpr int kOnDemand = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;

class MrTest : public FakeProvider {
protected:
    void SetUp() override
    {
        ASSERT_EQ(ibv_fork_init(), 0);
        if (ibv_is_fork_initialized() == IBV_FORK_UNNEEDED)
            GTEST_SKIP() << "this kernel copies pinned pages on fork, so that protection is never applied";
        set_memory_ops(false);
        withheld.clear();
        memory_ = static_cast<char *>(
            mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
    void TearDown() override
    {
        EXPECT_TRUE(withheld.empty());
        withheld.clear();
        answer = 0;
        munmap(memory_, 8 * kPage);
    }

    /// The withheld pages of the eight, a character each.
    std::string pages() const
    {
        std::string map;
        for (size_t i = 0; i < 8; ++i)
            map += withheld.count(reinterpret_cast<uintptr_t>(memory_) / kPage + i) != 0 ? 'x' : '.';
        return map;
    }

    char *page(size_t i) { return memory_ + i * kPage; }

    char *memory_ = nullptr;
};

TEST_F(MrTest, OfThisProcessIsProtectedByEveryVerbThatMakesOne)
{
    set_memory_ops(true);
    ibv_mr_init_attr attr{};
    attr.addr = page(1);
    attr.length = 2 * kPage;
    attr.access = IBV_ACCESS_LOCAL_WRITE;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    ibv_mr *mr = ibv_reg_mr_ex(&pd, &attr);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(pages(), ".xx.....");
    EXPECT_EQ(mr->addr, page(1));
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(pages(), "........");

    attr.access = kOnDemand;
    mr = ibv_reg_mr_ex(&pd, &attr);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(pages(), "........") << "what is paged on demand stays with its process in any case";
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, ThatIsRefusedIsProtectedNoMore)
{
    set_memory_ops(true);
    ibv_mr_init_attr attr{};
    attr.addr = page(1);
    attr.length = kPage;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    kernel.error = EFAULT;
    EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &attr), EFAULT);
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD;
    EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &attr), EINVAL);
    kernel.error = 0;
    advice_error = ENOMEM;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    called.clear();
    EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &attr), ENOMEM);
    EXPECT_EQ(called, "");
}

TEST_F(MrTest, WithoutAnAddressIsNeitherProtectedNorUnprotected)
{
    ibv_mr *neighbour = ibv_reg_mr(&pd, page(0), 8 * kPage, 0);
    ASSERT_NE(neighbour, nullptr);

    // The offset and length of a dma-buf, taken for an address, would be the neighbour's.
    auto offset = reinterpret_cast<uintptr_t>(page(2));
    ibv_mr *mr = ibv_reg_dmabuf_mr(&pd, offset, kPage, 0, 9, IBV_ACCESS_LOCAL_WRITE);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(mr->addr), offset);
    EXPECT_EQ(mr->length, kPage);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(pages(), "xxxxxxxx");

    ibv_mr_init_attr attr{};
    attr.fd_offset = offset;
    attr.length = kPage;
    attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
    for (bool has_reg_mr_ex : {false, true}) {
        set_memory_ops(has_reg_mr_ex);
        mr = ibv_reg_mr_ex(&pd, &attr);
        ASSERT_NE(mr, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(mr->addr), offset);
        EXPECT_EQ(ibv_dereg_mr(mr), 0);
        EXPECT_EQ(pages(), "xxxxxxxx");
    }

    verbs_dm dm{};
    dm.dm.context = context;
    mr = ibv_reg_dm_mr(&pd, &dm.dm, 0, 64, IBV_ACCESS_ZERO_BASED);
    ASSERT_NE(mr, nullptr);
    mr->addr = page(2);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    mr = ibv_alloc_null_mr(&pd);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(mr->addr, nullptr);
    EXPECT_EQ(mr->length, SIZE_MAX);
    EXPECT_EQ(mr->rkey, 0u);
    mr->context = context;
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(pages(), "xxxxxxxx");
    EXPECT_EQ(ibv_dereg_mr(neighbour), 0);
}

TEST_F(MrTest, WithoutAnAddressIsNotRegisteredAnew)
{
    verbs_dm dm{};
    dm.dm.context = context;
    ibv_mr *regions[] = {ibv_alloc_null_mr(&pd), ibv_reg_dmabuf_mr(&pd, 0, kPage, 0, 9, 0),
                         ibv_reg_dm_mr(&pd, &dm.dm, 0, 64, IBV_ACCESS_ZERO_BASED)};
    for (ibv_mr *mr : regions) {
        ASSERT_NE(mr, nullptr);
        mr->context = context;
        called.clear();
        for (int flags :
             {IBV_REREG_MR_CHANGE_TRANSLATION, IBV_REREG_MR_CHANGE_PD, IBV_REREG_MR_CHANGE_ACCESS}) {
            errno = 0;
            EXPECT_EQ(ibv_rereg_mr(mr, flags, &pd, page(0), kPage, 0), IBV_REREG_MR_ERR_INPUT);
            EXPECT_EQ(errno, EINVAL);
        }
        EXPECT_EQ(called, "");
        EXPECT_EQ(ibv_dereg_mr(mr), 0);
    }
}

TEST_F(MrTest, StaysProtectedWhereItIsNotDeregistered)
{
    ibv_mr *mr = ibv_reg_mr(&pd, page(0), kPage, 0);
    ASSERT_NE(mr, nullptr);
    answer = EBUSY;
    EXPECT_EQ(ibv_dereg_mr(mr), EBUSY);
    EXPECT_EQ(pages(), "x.......");
    answer = 0;
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, ThatMovesIsProtectedWhereItIs)
{
    ibv_mr *mr = ibv_reg_mr(&pd, page(0), 2 * kPage, 0);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, page(4), 3 * kPage, 0), 0);
    EXPECT_EQ(pages(), "....xxx.");
    kernel.error = EINVAL;
    errno = 0;
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, page(0), kPage, 0),
              IBV_REREG_MR_ERR_CMD);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(pages(), "....xxx.");
    kernel.error = 0;
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, ThatChangesBetweenPinnedAndOnDemandIsProtectedWhilePinned)
{
    ibv_mr *mr = ibv_reg_mr(&pd, page(0), 2 * kPage, kOnDemand);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(pages(), "........");
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE), 0);
    EXPECT_EQ(pages(), "xx......");
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kOnDemand), 0);
    EXPECT_EQ(pages(), "........");
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, page(4), kPage, 0), 0);
    EXPECT_EQ(pages(), "........") << "it is on demand as before";
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS, nullptr, page(5),
                           2 * kPage, IBV_ACCESS_LOCAL_WRITE),
              0);
    EXPECT_EQ(pages(), ".....xx.");
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS, nullptr, page(0),
                           kPage, kOnDemand),
              0);
    EXPECT_EQ(pages(), "........");
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, OnDemandThatCannotBePinnedStaysAsItWas)
{
    ibv_mr *mr = ibv_reg_mr(&pd, page(0), 2 * kPage, kOnDemand);
    ASSERT_NE(mr, nullptr);
    kernel.error = EOPNOTSUPP;
    errno = 0;
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              IBV_REREG_MR_ERR_CMD);
    EXPECT_EQ(errno, EOPNOTSUPP);
    EXPECT_EQ(pages(), "........");
    kernel.error = 0;
    advice_error = ENOMEM;
    called.clear();
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              IBV_REREG_MR_ERR_DONT_FORK_NEW);
    EXPECT_EQ(called, "");
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(pages(), "........");
}

TEST_F(MrTest, AllMemoryIsOnDemandAndNeverProtected)
{
    ibv_mr *mr = ibv_reg_mr(&pd, nullptr, SIZE_MAX, kOnDemand);
    ASSERT_NE(mr, nullptr);
    EXPECT_TRUE(withheld.empty());
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, OfAProviderWithoutTheExtendedOpIsWhatThePlainOnesCan)
{
    ibv_mr_init_attr attr{};
    attr.addr = page(1);
    attr.length = kPage;
    attr.iova = kPage;
    attr.access = IBV_ACCESS_LOCAL_WRITE;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    ibv_mr *mr = ibv_reg_mr_ex(&pd, &attr);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(called, "reg_mr");
    EXPECT_EQ(pages(), ".x......");
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    kernel.take();
    attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
    mr = ibv_reg_mr_ex(&pd, &attr);
    ASSERT_NE(mr, nullptr);
    EXPECT_NE(kernel.take().find("00100000 00000000 11000000"), std::string::npos) << "the iova, then the PD";
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    attr.comp_mask |= IBV_REG_MR_MASK_DMAH;
    EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &attr), EOPNOTSUPP);
    attr.comp_mask = IBV_REG_MR_MASK_IOVA;
    EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &attr), EINVAL);
    attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
    mr = ibv_reg_mr_ex(&pd, &attr);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(called, "reg_dmabuf_mr");
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, OfADmabufIsRefusedWithTheKernelsErrno)
{
    for (int error : {EBADF, EINVAL, EOPNOTSUPP, ENOMEM}) {
        kernel.error = error;
        EXPECT_NULL_WITH(ibv_reg_dmabuf_mr(&pd, 0, kPage, 0, 9, 0), error);
    }
    kernel.error = 0;
    kernel.no_methods = true;
    EXPECT_NULL_WITH(ibv_reg_dmabuf_mr(&pd, 0, kPage, 0, 9, 0), EPROTONOSUPPORT);
    kernel.no_ioctl = true;
    EXPECT_NULL_WITH(ibv_reg_dmabuf_mr(&pd, 0, kPage, 0, 9, 0), ENOTTY);
}

}  // namespace
}  // namespace verbs::test
