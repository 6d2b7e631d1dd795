// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: what the driver is asked, and what is left where it refuses.
#include "fake_kernel.hh"

namespace siw::test {
namespace {

class MrTest : public SiwTest {};

TEST_F(MrTest, LeavesTheKeyOfTheStagAtZero)
{
    char memory[8];
    std::memset(&kernel_.reg_mr, 0xff, sizeof(kernel_.reg_mr));
    ibv_mr *mr = ops().reg_mr(pd_, memory, sizeof(memory), 0, IBV_ACCESS_LOCAL_WRITE);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(words(&kernel_.reg_mr, sizeof(kernel_.reg_mr)), "");
    auto *verbs = reinterpret_cast<verbs_mr *>(mr);
    kernel_.fail("dereg_mr", EBUSY);
    EXPECT_EQ(ops().dereg_mr(verbs), EBUSY);
    EXPECT_EQ(mr->lkey, 0x77u);
    EXPECT_EQ(ops().dereg_mr(verbs), 0);
}

TEST_F(MrTest, TellsWhyItCannotRegister)
{
    kernel_.fail("reg_mr", EFAULT);
    errno = 0;
    EXPECT_EQ(ops().reg_mr(pd_, nullptr, 8, 0, 0), nullptr);
    EXPECT_EQ(errno, EFAULT);
}

}  // namespace
}  // namespace siw::test
