// SPDX-License-Identifier: BSD-2-Clause
// Completion counters and DMA handles: how the kernel's answers reach the objects and the errors their
// callers.
#include <rdma/ib_user_ioctl_cmds.h>

#include "commands.hh"
#include "fake_context.hh"

namespace verbs::test {
namespace {

using namespace uverbs::test;

class CompCntrTest : public FakeContext {
protected:
    ibv_comp_cntr counter{.context = context, .handle = 0x5d};
};

TEST_F(CompCntrTest, IsMadeWithTheDriversAttributes)
{
    DriverAttributes driver;
    kernel.new_object = 0x713;
    EXPECT_EQ(ibv_cmd_create_comp_cntr(context, &counter, &driver.buffer), 0);
    EXPECT_EQ(counter.context, context);
    EXPECT_EQ(counter.handle, 0x713u);
    EXPECT_NE(kernel.take().find("0x1004"), std::string::npos);
}

TEST_F(CompCntrTest, EachCallChangesTheCountAndInTheWayThatItIsNamedFor)
{
    const struct {
        int (*call)(ibv_comp_cntr *, uint64_t);
        const char *entry;
        const char *op;
    } calls[] = {
        {ibv_cmd_set_comp_cntr, "00000000 00000000", "00000000 00000000"},
        {ibv_cmd_set_err_comp_cntr, "01000000 00000000", "00000000 00000000"},
        {ibv_cmd_inc_comp_cntr, "00000000 00000000", "01000000 00000000"},
        {ibv_cmd_inc_err_comp_cntr, "01000000 00000000", "01000000 00000000"},
    };
    for (const auto &one : calls) {
        EXPECT_EQ(one.call(&counter, 9), 0);
        EXPECT_EQ(kernel.take(), ioctl(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY,
                                       {object(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, 0x5d),
                                        in(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, one.entry),
                                        in(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, one.op),
                                        in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, "09000000 00000000")}));
    }
}

TEST_F(CompCntrTest, IsReadAndNothingIsWrittenOnFailure)
{
    uint64_t value = 7;
    kernel.answers = {{UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, bytes("2a000000 00000000")}};
    EXPECT_EQ(ibv_cmd_read_comp_cntr(&counter, &value), 0);
    EXPECT_EQ(value, 42u);
    EXPECT_NE(kernel.take().find(in(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, "00000000 00000000")),
              std::string::npos);
    EXPECT_EQ(ibv_cmd_read_err_comp_cntr(&counter, &value), 0);
    EXPECT_NE(kernel.take().find(in(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, "01000000 00000000")),
              std::string::npos);
    kernel.error = EIO;
    value = 7;
    EXPECT_EQ(ibv_cmd_read_comp_cntr(&counter, &value), EIO);
    EXPECT_EQ(value, 7u);
}

TEST_F(CompCntrTest, CapabilitiesFillAsMuchAsTheCallerHas)
{
    kernel.answers = {{UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, bytes("07000000")},
                      {UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, bytes("ffffffff ff000000")}};
    struct {
        ibv_comp_cntr_caps caps;
        uint64_t later;
    } larger = {.caps = {}, .later = 5};
    EXPECT_EQ(ibv_cmd_query_comp_cntr_caps(context, &larger.caps, sizeof larger), 0);
    EXPECT_EQ(larger.caps.max_counters, 7u);
    EXPECT_EQ(larger.later, 0u) << "what is not known reads as zero";

    ibv_comp_cntr_caps caps;
    std::memset(&caps, 0xee, sizeof caps);
    EXPECT_EQ(ibv_cmd_query_comp_cntr_caps(context, &caps, sizeof caps.max_value), 0);
    EXPECT_EQ(caps.max_value, (uint64_t{1} << 40) - 1);
    EXPECT_EQ(caps.max_counters, 0xeeeeeeeeu) << "which the caller has no room for";
}

TEST_F(CompCntrTest, IsAttached)
{
    ibv_qp qp{};
    qp.context = context;
    qp.handle = 0x44;
    ibv_qp_attach_comp_cntr_attr attr = {.comp_mask = 0, .op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_RECV};
    EXPECT_EQ(ibv_cmd_qp_attach_comp_cntr(&qp, &counter, &attr), 0);
    EXPECT_EQ(kernel.take(), ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR,
                                   {object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, 0x44),
                                    object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, 0x5d),
                                    in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, "02000000")}));
    attr.comp_mask = 1;
    EXPECT_EQ(ibv_cmd_qp_attach_comp_cntr(&qp, &counter, &attr), EOPNOTSUPP);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(CompCntrTest, OlderKernelsHaveNone)
{
    ibv_comp_cntr_caps caps;
    uint64_t value;
    ibv_qp qp{};
    qp.context = context;
    ibv_qp_attach_comp_cntr_attr attr{};
    for (bool FakeKernel::*older : {&FakeKernel::no_methods, &FakeKernel::no_ioctl}) {
        kernel.*older = true;
        EXPECT_CREATION_FAILS(ibv_cmd_create_comp_cntr(context, &counter, nullptr), EOPNOTSUPP);
        EXPECT_EQ(ibv_cmd_query_comp_cntr_caps(context, &caps, sizeof caps), EOPNOTSUPP);
        EXPECT_EQ(ibv_cmd_set_comp_cntr(&counter, 1), EOPNOTSUPP);
        EXPECT_EQ(ibv_cmd_inc_err_comp_cntr(&counter, 1), EOPNOTSUPP);
        EXPECT_EQ(ibv_cmd_read_comp_cntr(&counter, &value), EOPNOTSUPP);
        EXPECT_EQ(ibv_cmd_qp_attach_comp_cntr(&qp, &counter, &attr), EOPNOTSUPP);
    }
}

TEST_F(CompCntrTest, IsDestroyedWithItsDevice)
{
    EXPECT_EQ(ibv_cmd_destroy_comp_cntr(&counter), 0);
    kernel.error = EIO;
    EXPECT_EQ(ibv_cmd_destroy_comp_cntr(&counter), EIO);
    verbs_allow_disassociate_destroy = true;
    EXPECT_EQ(ibv_cmd_destroy_comp_cntr(&counter), 0);
    verbs_allow_disassociate_destroy = false;
    kernel.error = EBUSY;
    EXPECT_EQ(ibv_cmd_destroy_comp_cntr(&counter), EBUSY);
}

class DmahTest : public FakeContext {
protected:
    verbs_dmah dmah{};
};

TEST_F(DmahTest, HasOnlyTheHintsThatItIsMadeWith)
{
    ibv_dmah_init_attr attr = {.comp_mask = 0, .cpu_id = 5, .ph = 2, .tph_mem_type = IBV_TPH_MEM_TYPE_PM};
    kernel.new_object = 0x711;
    EXPECT_EQ(ibv_cmd_alloc_dmah(context, &dmah, &attr), 0);
    EXPECT_EQ(dmah.handle, 0x711u);
    EXPECT_EQ(dmah.dmah.context, context);
    EXPECT_EQ(kernel.take(), ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC,
                                   {object(UVERBS_ATTR_ALLOC_DMAH_HANDLE, 0)}));
    attr.comp_mask =
        IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH | IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
    EXPECT_EQ(ibv_cmd_alloc_dmah(context, &dmah, &attr), 0);
    EXPECT_EQ(kernel.take(),
              ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC,
                    {object(UVERBS_ATTR_ALLOC_DMAH_HANDLE, 0), in(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, "05000000"),
                     kind(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, IBV_TPH_MEM_TYPE_PM, ""),
                     in(UVERBS_ATTR_ALLOC_DMAH_PH, "02")}));
}

TEST_F(DmahTest, RefusesHintsThatNobodyKnows)
{
    ibv_dmah_init_attr attr{};
    attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE << 1;
    EXPECT_CREATION_FAILS(ibv_cmd_alloc_dmah(context, &dmah, &attr), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(DmahTest, OlderKernelsHaveNone)
{
    ibv_dmah_init_attr attr{};
    kernel.no_methods = true;
    EXPECT_CREATION_FAILS(ibv_cmd_alloc_dmah(context, &dmah, &attr), EOPNOTSUPP);
    kernel.no_ioctl = true;
    EXPECT_CREATION_FAILS(ibv_cmd_alloc_dmah(context, &dmah, &attr), EOPNOTSUPP);
}

TEST_F(DmahTest, IsFreed)
{
    dmah.dmah.context = context;
    dmah.handle = 0x33;
    EXPECT_EQ(ibv_cmd_free_dmah(&dmah), 0);
    EXPECT_EQ(kernel.take(), ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE,
                                   {object(UVERBS_ATTR_FREE_DMA_HANDLE, 0x33)}));
    kernel.error = EBUSY;
    EXPECT_EQ(ibv_cmd_free_dmah(&dmah), EBUSY);
}

}  // namespace
}  // namespace verbs::test
