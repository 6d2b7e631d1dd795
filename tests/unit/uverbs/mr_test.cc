// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory regions.
#include "uverbs/mr.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const MrRequest kMemory = {
    .pd_handle = 0x11, .start = 0x7000000000, .length = 0x100000, .iova = 0x8000000000, .access = 7};
const DmMrRequest kDeviceMemory = {
    .pd_handle = 0x11, .dm_handle = 0x44, .offset = 8, .length = 16, .access = 0x21};
const DmabufMrRequest kDmabuf = {
    .pd_handle = 0x11, .fd = 9, .offset = 8, .length = 0x100000, .iova = 0x8000000000, .access = 7};
const MrExRequest kAny = {.pd_handle = 0x11,
                          .start = 0x7000000000,
                          .length = 0x100000,
                          .iova = 0x8000000000,
                          .access = 7,
                          .dmabuf_fd = std::nullopt,
                          .dmah_handle = std::nullopt};
const ibv_sge kSges[] = {{.addr = 1, .length = 2, .lkey = 3}, {.addr = 4, .length = 5, .lkey = 6}};

const Command kCommands[] = {
    {"register",
     [](Channel &channel) { return mr_register(channel, kMemory, kDriverData).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_REG_MR,
            "00000000 00000000 00000000 70000000 00001000 00000000 00000000 80000000 11000000 07000000", 12,
            "d0d1d2d3 d4d5d6d7", 8),
     write("09000000 0e000500 answer 00000000 70000000 00001000 00000000 00000000 80000000 11000000 07000000 "
           "d0d1d2d3 d4d5d6d7")},
    {"register_ex", [](Channel &channel) { return mr_register_ex(channel, kAny).error(); },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR,
           {object(UVERBS_ATTR_REG_MR_HANDLE, 0), object(UVERBS_ATTR_REG_MR_PD_HANDLE, 0x11),
            in(UVERBS_ATTR_REG_MR_ADDR, "00000000 70000000"),
            in(UVERBS_ATTR_REG_MR_LENGTH, "00001000 00000000"),
            in(UVERBS_ATTR_REG_MR_IOVA, "00000000 80000000"), in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, "07000000"),
            out(UVERBS_ATTR_REG_MR_RESP_LKEY, 4), out(UVERBS_ATTR_REG_MR_RESP_RKEY, 4)}),
     invoke(IB_USER_VERBS_CMD_REG_MR,
            "00000000 00000000 00000000 70000000 00001000 00000000 00000000 80000000 11000000 07000000", 12),
     write("09000000 0c000300 answer 00000000 70000000 00001000 00000000 00000000 80000000 11000000 "
           "07000000")},
    {"register_ex_with_dmah",
     [](Channel &channel) {
         MrExRequest request = kAny;
         request.dmah_handle = 0x33;
         return mr_register_ex(channel, request).error();
     },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR,
           {object(UVERBS_ATTR_REG_MR_HANDLE, 0), object(UVERBS_ATTR_REG_MR_PD_HANDLE, 0x11),
            object(UVERBS_ATTR_REG_MR_DMA_HANDLE, 0x33), in(UVERBS_ATTR_REG_MR_ADDR, "00000000 70000000"),
            in(UVERBS_ATTR_REG_MR_LENGTH, "00001000 00000000"),
            in(UVERBS_ATTR_REG_MR_IOVA, "00000000 80000000"), in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, "07000000"),
            out(UVERBS_ATTR_REG_MR_RESP_LKEY, 4), out(UVERBS_ATTR_REG_MR_RESP_RKEY, 4)}),
     {},
     {}},
    {"reregister",
     [](Channel &channel) {
         return mr_reregister(channel, 0x22, IBV_REREG_MR_CHANGE_ACCESS, kMemory, kDriverData).error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_REREG_MR,
            "00000000 00000000 22000000 04000000 00000000 70000000 00001000 00000000 00000000 80000000 "
            "11000000 07000000",
            8, "d0d1d2d3 d4d5d6d7", 8),
     write("0b000000 10000400 answer 22000000 04000000 00000000 70000000 00001000 00000000 00000000 80000000 "
           "11000000 07000000 d0d1d2d3 d4d5d6d7")},
    {"register_dm",
     [](Channel &channel) { return mr_register_dm(channel, kDeviceMemory, nullptr).error(); },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG,
           {object(UVERBS_ATTR_REG_DM_MR_HANDLE, 0), in(UVERBS_ATTR_REG_DM_MR_OFFSET, "08000000 00000000"),
            in(UVERBS_ATTR_REG_DM_MR_LENGTH, "10000000 00000000"),
            object(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, 0x11), in(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, "21000000"),
            object(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, 0x44), out(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
            out(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4)}),
     {},
     {}},
    {"register_dm_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return mr_register_dm(channel, kDeviceMemory, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG,
           {object(UVERBS_ATTR_REG_DM_MR_HANDLE, 0), in(UVERBS_ATTR_REG_DM_MR_OFFSET, "08000000 00000000"),
            in(0x1004, "bc0a0000"), out(0x1005, 4), in(UVERBS_ATTR_REG_DM_MR_LENGTH, "10000000 00000000"),
            object(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, 0x11), in(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, "21000000"),
            object(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, 0x44), out(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
            out(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4)}),
     {},
     {}},
    {"register_dmabuf",
     [](Channel &channel) { return mr_register_dmabuf(channel, kDmabuf, nullptr).error(); },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
           {object(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0), object(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0x11),
            in(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, "08000000 00000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, "00001000 00000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_IOVA, "00000000 80000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_FD, "09000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, "07000000"),
            out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4), out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4)}),
     {},
     {}},
    {"register_dmabuf_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return mr_register_dmabuf(channel, kDmabuf, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
           {object(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0), object(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0x11),
            in(0x1004, "bc0a0000"), out(0x1005, 4), in(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, "08000000 00000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, "00001000 00000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_IOVA, "00000000 80000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_FD, "09000000"),
            in(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, "07000000"),
            out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4), out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4)}),
     {},
     {}},
    {"query",
     [](Channel &channel) { return mr_query(channel, 0x22).error(); },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR,
           {object(UVERBS_ATTR_QUERY_MR_HANDLE, 0x22), out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4),
            out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4), out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8)}),
     {},
     {}},
    {"advise",
     [](Channel &channel) {
         return mr_advise(channel, 0x11, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE,
                          IB_UVERBS_ADVISE_MR_FLAG_FLUSH, kSges)
             .error();
     },
     ioctl(
         UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR,
         {object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0x11),
          in(UVERBS_ATTR_ADVISE_MR_ADVICE, "01000000 00000000"), in(UVERBS_ATTR_ADVISE_MR_FLAGS, "01000000"),
          in(UVERBS_ATTR_ADVISE_MR_SGE_LIST,
             "01000000 00000000 02000000 03000000 04000000 00000000 05000000 06000000")}),
     {},
     {}},
    {"deregister", [](Channel &channel) { return mr_deregister(channel, 0x22).error(); },
     ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, {object(UVERBS_ATTR_DESTROY_MR_HANDLE, 0x22)}),
     invoke(IB_USER_VERBS_CMD_DEREG_MR, "22000000"), write("0d000000 03000000 22000000")},
};

INSTANTIATE_TEST_SUITE_P(Mr, Commands, testing::ValuesIn(kCommands), command_name);

class MrTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(MrTest, HasHandleAndKeys)
{
    kernel.written = bytes("01000000 02000000 03000000");
    Result<MrInfo> mr = mr_register(channel, kMemory, {});
    ASSERT_TRUE(mr);
    EXPECT_EQ(mr->handle, 1U);
    EXPECT_EQ(mr->lkey, 2U);
    EXPECT_EQ(mr->rkey, 3U);
}

TEST_F(MrTest, KeepsItsHandleWhenItIsRegisteredAnew)
{
    kernel.written = bytes("04000000 05000000");
    Result<MrInfo> mr = mr_reregister(channel, 0x22, IBV_REREG_MR_CHANGE_ACCESS, kMemory, {});
    ASSERT_TRUE(mr);
    EXPECT_EQ(mr->handle, 0x22U);
    EXPECT_EQ(mr->lkey, 4U);
    EXPECT_EQ(mr->rkey, 5U);
}

TEST_F(MrTest, OfDeviceMemoryHasHandleAndKeys)
{
    kernel.new_object = 0x707;
    kernel.answers = {{UVERBS_ATTR_REG_DM_MR_RESP_LKEY, bytes("16000000")},
                      {UVERBS_ATTR_REG_DM_MR_RESP_RKEY, bytes("17000000")}};
    Result<MrInfo> mr = mr_register_dm(channel, kDeviceMemory, nullptr);
    ASSERT_TRUE(mr);
    EXPECT_EQ(mr->handle, 0x707U);
    EXPECT_EQ(mr->lkey, 0x16U);
    EXPECT_EQ(mr->rkey, 0x17U);
}

TEST_F(MrTest, OfADmabufHasHandleAndKeys)
{
    kernel.new_object = 0x707;
    kernel.answers = {{UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, bytes("16000000")},
                      {UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, bytes("17000000")}};
    DriverAttributes driver;
    Result<MrInfo> mr = mr_register_dmabuf(channel, kDmabuf, &driver.buffer);
    ASSERT_TRUE(mr);
    EXPECT_EQ(mr->handle, 0x707U);
    EXPECT_EQ(mr->lkey, 0x16U);
    EXPECT_EQ(mr->rkey, 0x17U);
}

TEST_F(MrTest, OfAnyKindHasHandleAndKeys)
{
    kernel.new_object = 0x707;
    kernel.answers = {{UVERBS_ATTR_REG_MR_RESP_LKEY, bytes("16000000")},
                      {UVERBS_ATTR_REG_MR_RESP_RKEY, bytes("17000000")}};
    Result<MrInfo> mr = mr_register_ex(channel, kAny);
    ASSERT_TRUE(mr);
    EXPECT_EQ(mr->handle, 0x707U);
    EXPECT_EQ(mr->lkey, 0x16U);
    EXPECT_EQ(mr->rkey, 0x17U);
}

TEST_F(MrTest, OfAnyKindIsOfADmabufByTheOlderMethodToo)
{
    MrExRequest request = kAny;
    request.start = 8;
    request.dmabuf_fd = 9;
    EXPECT_TRUE(mr_register_ex(channel, request));
    const std::string newer = ioctl(
        UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR,
        {object(UVERBS_ATTR_REG_MR_HANDLE, 0), object(UVERBS_ATTR_REG_MR_PD_HANDLE, 0x11),
         object(UVERBS_ATTR_REG_MR_FD, 9), in(UVERBS_ATTR_REG_MR_FD_OFFSET, "08000000 00000000"),
         in(UVERBS_ATTR_REG_MR_LENGTH, "00001000 00000000"), in(UVERBS_ATTR_REG_MR_IOVA, "00000000 80000000"),
         in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, "07000000"), out(UVERBS_ATTR_REG_MR_RESP_LKEY, 4),
         out(UVERBS_ATTR_REG_MR_RESP_RKEY, 4)});
    EXPECT_EQ(kernel.take(), newer);

    kernel.missing = {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR};
    Channel old{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
    EXPECT_TRUE(mr_register_ex(old, request));
    std::string log = kernel.take();
    EXPECT_TRUE(mr_register_dmabuf(old, kDmabuf, nullptr));
    std::string older = kernel.take();
    EXPECT_EQ(log.substr(log.size() - older.size()), older);
    EXPECT_TRUE(mr_register_ex(old, request));
    EXPECT_EQ(kernel.take(), older) << "the newer method is not asked for again";
}

TEST_F(MrTest, OfAnotherProcessIsDescribed)
{
    kernel.answers = {{UVERBS_ATTR_QUERY_MR_RESP_LKEY, bytes("01000000")},
                      {UVERBS_ATTR_QUERY_MR_RESP_RKEY, bytes("02000000")},
                      {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, bytes("00000000 01000000")}};
    Result<MrDescription> mr = mr_query(channel, 0x22);
    ASSERT_TRUE(mr);
    EXPECT_EQ(mr->lkey, 1U);
    EXPECT_EQ(mr->rkey, 2U);
    EXPECT_EQ(mr->length, uint64_t{1} << 32);
}

}  // namespace
}  // namespace verbs::uverbs::test
