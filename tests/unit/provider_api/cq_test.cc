// SPDX-License-Identifier: BSD-2-Clause
// Completion queues: what each flag of a provider means for the command.
#include <rdma/ib_user_ioctl_cmds.h>

#include "commands.hh"
#include "fake_context.hh"

namespace verbs::test {
namespace {

using namespace uverbs::test;

class CqTest : public FakeContext {
protected:
    int create(uint32_t flags, verbs_create_cq_prov_attr *memory, ibv_command_buffer *driver = nullptr)
    {
        struct ibv_create_cq_ex command {};
        ib_uverbs_ex_create_cq_resp response{};
        return ibv_cmd_create_cq_ex2(context, &attr, memory, &cq, &command, sizeof command, &response,
                                     sizeof response, flags, driver);
    }

    ibv_cq_init_attr_ex attr{.cqe = 100,
                             .cq_context = nullptr,
                             .channel = nullptr,
                             .comp_vector = 0,
                             .wc_flags = 0,
                             .comp_mask = 0,
                             .flags = 0,
                             .parent_domain = nullptr};
    verbs_cq cq{};
};

bool has(const std::string &log, const std::string &part)
{
    return log.find(part) != std::string::npos;
}

TEST_F(CqTest, FlagsOfTheProviderAreNotTheKernels)
{
    EXPECT_EQ(create(VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS, nullptr), 0);
    EXPECT_FALSE(has(kernel.take(), "  0x5 ")) << "no flags were asked for";
    attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    EXPECT_EQ(create(VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS, nullptr), 0);
    EXPECT_TRUE(has(kernel.take(), in(UVERBS_ATTR_CREATE_CQ_FLAGS, "01000000")));
}

TEST_F(CqTest, TimestampsNeedTheExtendedCommandUnlessTheyCanBeLost)
{
    kernel.no_methods = true;
    attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    EXPECT_EQ(create(0, nullptr), 0);
    EXPECT_TRUE(has(kernel.take(), in(UVERBS_ATTR_WRITE_CMD, "12000080 00000000")));
    EXPECT_EQ(create(VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS, nullptr), 0);
    EXPECT_TRUE(has(kernel.take(), in(UVERBS_ATTR_WRITE_CMD, "12000000 00000000")));
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    EXPECT_EQ(create(VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS, nullptr), 0);
    EXPECT_TRUE(has(kernel.take(), in(UVERBS_ATTR_WRITE_CMD, "12000080 00000000")));
}

TEST_F(CqTest, TakesTheProvidersMemory)
{
    verbs_create_cq_prov_attr memory{};
    memory.buffer.length = 0x2000;
    memory.buffer.ptr = reinterpret_cast<uint8_t *>(0x7000000000);
    EXPECT_EQ(create(VERBS_CREATE_CQ_BUFFER_VA, &memory), 0);
    std::string log = kernel.take();
    EXPECT_TRUE(has(log, in(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, "00000000 70000000"))) << log;
    EXPECT_TRUE(has(log, in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, "00200000 00000000"))) << log;

    memory.buffer.dmabuf.offset = 0x1000;
    memory.buffer.dmabuf.fd = 9;
    DriverAttributes driver;
    EXPECT_EQ(create(VERBS_CREATE_CQ_BUFFER_DMABUF, &memory, &driver.buffer), 0);
    log = kernel.take();
    EXPECT_TRUE(has(log, object(UVERBS_ATTR_CREATE_CQ_BUFFER_FD, 9))) << log;
    EXPECT_TRUE(has(log, in(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, "00100000 00000000"))) << log;
    EXPECT_TRUE(has(log, in(0x1004, "bc0a0000"))) << log;

    EXPECT_EQ(create(0, &memory), 0) << "without a flag the memory is not looked at";
    EXPECT_FALSE(has(kernel.take(), "  0x9 "));
}

TEST_F(CqTest, RefusesMemoryThatItCannotUse)
{
    verbs_create_cq_prov_attr memory{};
    memory.buffer.dmabuf.fd = -1;
    EXPECT_CREATION_FAILS(create(VERBS_CREATE_CQ_BUFFER_DMABUF, &memory), EINVAL);
    EXPECT_CREATION_FAILS(create(VERBS_CREATE_CQ_BUFFER_VA, nullptr), EINVAL);
    EXPECT_CREATION_FAILS(create(VERBS_CREATE_CQ_BUFFER_VA | VERBS_CREATE_CQ_BUFFER_DMABUF, &memory), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

TEST_F(CqTest, OlderKernelsTakeNoMemoryAndNoAttributes)
{
    verbs_create_cq_prov_attr memory{};
    DriverAttributes driver;
    for (bool FakeKernel::*older : {&FakeKernel::no_methods, &FakeKernel::no_ioctl}) {
        kernel.*older = true;
        EXPECT_CREATION_FAILS(create(VERBS_CREATE_CQ_BUFFER_VA, &memory), EOPNOTSUPP);
        EXPECT_CREATION_FAILS(create(0, nullptr, &driver.buffer), EOPNOTSUPP);
    }
}

}  // namespace
}  // namespace verbs::test
