// SPDX-License-Identifier: BSD-2-Clause
// DMA handles of urxe.
#include <sched.h>

#include <cerrno>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

constexpr uint32_t kCpu = IBV_DMAH_INIT_ATTR_MASK_CPU_ID, kHint = IBV_DMAH_INIT_ATTR_MASK_PH,
                   kType = IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;

class DmaHandle : public Loopback {
protected:
    int alloc(const ibv_dmah_init_attr &attr, ibv_dmah **made = nullptr)
    {
        ibv_dmah_init_attr given = attr;
        errno = 0;
        ibv_dmah *dmah = ibv_alloc_dmah(context_, &given);
        if (dmah == nullptr)
            return errno;
        EXPECT_EQ(dmah->context, context_);
        if (made != nullptr)
            *made = dmah;
        else
            EXPECT_EQ(ibv_dealloc_dmah(dmah), 0);
        return 0;
    }
};

TEST_F(DmaHandle, TakesHintsThatThereAre)
{
    const auto cpu = static_cast<uint32_t>(sched_getcpu());
    EXPECT_EQ(alloc({}), 0);
    EXPECT_EQ(alloc({.comp_mask = kCpu, .cpu_id = cpu, .ph = 200, .tph_mem_type = 200}), 0);
    for (uint8_t hint = 0; hint < 4; ++hint)
        EXPECT_EQ(alloc({.comp_mask = kHint, .cpu_id = UINT32_MAX, .ph = hint, .tph_mem_type = 200}), 0);
    for (const ibv_tph_mem_type type : {IBV_TPH_MEM_TYPE_VM, IBV_TPH_MEM_TYPE_PM})
        EXPECT_EQ(alloc({.comp_mask = kCpu | kHint | kType,
                         .cpu_id = cpu,
                         .ph = 1,
                         .tph_mem_type = static_cast<uint8_t>(type)}),
                  0);
    EXPECT_EQ(alloc({.comp_mask = kHint, .cpu_id = 0, .ph = 4, .tph_mem_type = 0}), EINVAL);
    EXPECT_EQ(alloc({.comp_mask = kType, .cpu_id = 0, .ph = 0, .tph_mem_type = 2}), EINVAL);
    EXPECT_EQ(alloc({.comp_mask = 8, .cpu_id = 0, .ph = 0, .tph_mem_type = 0}), EINVAL);
    EXPECT_EQ(alloc({.comp_mask = kCpu, .cpu_id = UINT32_MAX, .ph = 0, .tph_mem_type = 0}), EPERM);
}

TEST_F(DmaHandle, KnowsWhereThisThreadMayRun)
{
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2)
        GTEST_SKIP() << "one processor";
    const auto cpu = static_cast<unsigned>(sched_getcpu());
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    for (unsigned other = 0; other < CPU_SETSIZE; ++other) {
        if (!CPU_ISSET(other, &before))
            continue;
        EXPECT_EQ(alloc({.comp_mask = kCpu, .cpu_id = other, .ph = 0, .tph_mem_type = 0}),
                  other == cpu ? 0 : EPERM);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(DmaHandle, IsUsedByRegions)
{
    alignas(4096) char memory[4096];
    ibv_dmah *dmah = nullptr;
    ASSERT_EQ(alloc({.comp_mask = kHint, .cpu_id = 0, .ph = 2, .tph_mem_type = 0}, &dmah), 0);
    ibv_mr_init_attr attr{};
    attr.length = sizeof memory;
    attr.access = kAllAccess;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
    attr.addr = memory;
    attr.dmah = dmah;
    ibv_mr *mrs[2];
    for (ibv_mr *&mr : mrs) {
        mr = ibv_reg_mr_ex(pd_, &attr);
        ASSERT_NE(mr, nullptr) << strerror(errno);
    }
    EXPECT_EQ(ibv_dealloc_dmah(dmah), EBUSY);
    const Pair pair = make_pair();
    const ibv_sge sge = {address_of(memory), 8, mrs[0]->lkey};
    ASSERT_EQ(post(pair.qp[0], IBV_WR_RDMA_WRITE, sge, address_of(memory + 8), mrs[1]->rkey), 0);
    EXPECT_EQ(wait(pair.cq[0]).status, IBV_WC_SUCCESS);
    // A region that is registered anew keeps it.
    EXPECT_EQ(ibv_rereg_mr(mrs[0], IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              0);
    EXPECT_EQ(ibv_dereg_mr(mrs[1]), 0);
    EXPECT_EQ(ibv_dealloc_dmah(dmah), EBUSY);
    EXPECT_EQ(ibv_dereg_mr(mrs[0]), 0);
    // One that cannot be made does not have it.
    attr.access = IBV_ACCESS_REMOTE_WRITE;
    EXPECT_EQ(ibv_reg_mr_ex(pd_, &attr), nullptr);
    EXPECT_EQ(ibv_dealloc_dmah(dmah), 0);
    attr.access = kAllAccess;
    attr.dmah = nullptr;
    errno = 0;
    EXPECT_EQ(ibv_reg_mr_ex(pd_, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    attr.comp_mask = IBV_REG_MR_MASK_DMAH;
    errno = 0;
    EXPECT_EQ(ibv_reg_mr_ex(pd_, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace urxe::test
