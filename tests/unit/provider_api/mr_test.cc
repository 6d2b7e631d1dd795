// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: which attributes go together, and what becomes of the object.
#include <rdma/ib_user_ioctl_cmds.h>

#include "commands.hh"
#include "fake_context.hh"

namespace verbs::test {
namespace {

using namespace uverbs::test;

constexpr uint64_t kPage = 4096;

class MrTest : public FakeContext {
protected:
    MrTest()
    {
        kernel.new_object = 0x707;
        kernel.answers = {{UVERBS_ATTR_REG_MR_RESP_LKEY, bytes("16000000")},
                          {UVERBS_ATTR_REG_MR_RESP_RKEY, bytes("17000000")}};
        dmah.handle = 0x33;
    }

    verbs_mr mr{};
    verbs_dmah dmah{};
    ibv_mr_init_attr attr{.length = 0x2000,
                          .access = 7,
                          .comp_mask = 0,
                          .iova = 0x8000000000,
                          .addr = reinterpret_cast<void *>(0x7000000000),
                          .fd = 9,
                          .fd_offset = 0x3000,
                          .dmah = &dmah.dmah,
                          .buf = nullptr};
};

constexpr uint64_t kDmabuf = IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;

TEST_F(MrTest, OfThisProcess)
{
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
    EXPECT_EQ(mr.ibv_mr.context, context);
    EXPECT_EQ(mr.ibv_mr.pd, &pd);
    EXPECT_EQ(mr.ibv_mr.addr, attr.addr);
    EXPECT_EQ(mr.ibv_mr.length, attr.length);
    EXPECT_EQ(mr.ibv_mr.handle, 0x707u);
    EXPECT_EQ(mr.ibv_mr.lkey, 0x16u);
    EXPECT_EQ(mr.ibv_mr.rkey, 0x17u);
    EXPECT_EQ(mr.mr_type, IBV_MR_TYPE_MR);
    EXPECT_EQ(mr.access, 7);
    std::string log = kernel.take();
    EXPECT_NE(log.find(in(UVERBS_ATTR_REG_MR_IOVA, "00000000 70000000")), std::string::npos)
        << "the address, where no other is given";

    attr.comp_mask |= IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_DMAH;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
    log = kernel.take();
    EXPECT_NE(log.find(in(UVERBS_ATTR_REG_MR_IOVA, "00000000 80000000")), std::string::npos);
    EXPECT_NE(log.find(object(UVERBS_ATTR_REG_MR_DMA_HANDLE, 0x33)), std::string::npos);
}

TEST_F(MrTest, OfADmabuf)
{
    attr.comp_mask = kDmabuf;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
    EXPECT_EQ(mr.ibv_mr.addr, reinterpret_cast<void *>(0x3000)) << "the offset";
    EXPECT_EQ(mr.ibv_mr.length, attr.length);
    EXPECT_EQ(mr.mr_type, IBV_MR_TYPE_DMABUF_MR);
    EXPECT_NE(kernel.take().find(object(UVERBS_ATTR_REG_MR_FD, 9)), std::string::npos);
}

TEST_F(MrTest, RefusesWhatDoesNotGoTogether)
{
    const uint64_t allowed[] = {IBV_REG_MR_MASK_ADDR, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA, kDmabuf};
    for (uint64_t mask = 0; mask < 0x80; ++mask) {
        bool goes_together = false;
        for (uint64_t good : allowed)
            goes_together = goes_together || (mask & ~uint64_t{IBV_REG_MR_MASK_DMAH}) == good;
        attr.comp_mask = mask;
        if (goes_together) {
            EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0) << mask;
            kernel.take();
        } else {
            EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), EINVAL);
            EXPECT_EQ(kernel.take(), "") << mask;
        }
    }
}

TEST_F(MrTest, RefusesAHandleThatIsNotThere)
{
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
    attr.dmah = nullptr;
    EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), EINVAL);
}

TEST_F(MrTest, AddressesAgreeInTheirOffsetsInThePage)
{
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA;
    attr.iova += 8;
    EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), EINVAL);
    attr.addr = static_cast<char *>(attr.addr) + 8;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
    attr.iova += kPage;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
}

TEST_F(MrTest, OlderKernelsDoWithoutDmaHandles)
{
    kernel.no_methods = true;
    kernel.written = bytes("01000000 02000000 03000000");
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
    EXPECT_EQ(mr.ibv_mr.handle, 1u);
    EXPECT_EQ(mr.ibv_mr.rkey, 3u);
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
    EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), EOPNOTSUPP);
    attr.comp_mask = kDmabuf;
    EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), EOPNOTSUPP);
}

TEST_F(MrTest, KernelsWithoutIoctlKnowMemoryOfThisProcess)
{
    kernel.no_ioctl = true;
    attr.comp_mask = kDmabuf;
    EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), EOPNOTSUPP);
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA;
    EXPECT_EQ(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), 0);
}

TEST_F(MrTest, PassesTheKernelsErrorsOn)
{
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    for (int error : {EINVAL, EFAULT, ENOMEM, EOPNOTSUPP}) {
        kernel.error = error;
        EXPECT_CREATION_FAILS(ibv_cmd_reg_mr_ex(&pd, &mr, &attr), error);
    }
}

TEST_F(MrTest, OfDeviceMemoryIsOfATypeOfItsOwn)
{
    verbs_dm dm{};
    dm.handle = 0x44;
    EXPECT_EQ(ibv_cmd_reg_dm_mr(&pd, &dm, 0, 64, IBV_ACCESS_ZERO_BASED, &mr, nullptr), 0);
    EXPECT_EQ(mr.mr_type, IBV_MR_TYPE_DM_MR)
        << "so that its address, which it has none of, is not unprotected";
    EXPECT_EQ(mr.ibv_mr.addr, nullptr);
}

}  // namespace
}  // namespace verbs::test
