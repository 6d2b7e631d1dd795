// SPDX-License-Identifier: BSD-2-Clause
// Commands that concern a whole context.
#include "uverbs/context.hh"

#include <fcntl.h>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"query",
     [](Channel &channel) { return context_query(channel, nullptr).error(); },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
           {out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
            out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8)}),
     {},
     {}},
    {"query_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return context_query(channel, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
           {out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
            out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8), in(0x1004, "bc0a0000"), out(0x1005, 4)}),
     {},
     {}},
    {"query_device",
     [](Channel &channel) {
         ib_uverbs_query_device_resp device;
         return device_query(channel, device).error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_QUERY_DEVICE, "00000000 00000000", 176),
     write("01000000 04002c00 answer")},
    {"query_device_ex",
     [](Channel &channel) {
         ib_uverbs_ex_query_device_resp device;
         return device_query_ex(channel, device, kDriverData).error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_QUERY_DEVICE | kExtended, "00000000 00000000", 304, "d0d1d2d3 d4d5d6d7", 8),
     write("01000080 01002600 answer 01000100 00000000 00000000 00000000 d0d1d2d3 d4d5d6d7")},
    {"query_port",
     [](Channel &channel) {
         ib_uverbs_query_port_resp_ex port;
         return port_query(channel, 2, port, {}).error();
     },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT,
           {in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, "02000000 00000000"), out(UVERBS_ATTR_QUERY_PORT_RESP, 48)}),
     invoke(IB_USER_VERBS_CMD_QUERY_PORT, "00000000 00000000 02000000 00000000", 40),
     write("02000000 06000a00 answer 02000000 00000000")},
    {"query_port_speed",
     [](Channel &channel) { return port_speed_query(channel, 2).error(); },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED,
           {in(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, "02000000 00000000"),
            out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, 8)}),
     {},
     {}},
    {"query_gid",
     [](Channel &channel) {
         ib_uverbs_gid_entry entry;
         return gid_query(channel, 2, 3, 0, entry).error();
     },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
           {in(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, "02000000 00000000"),
            in(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, "03000000 00000000"),
            in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, "00000000"),
            out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, 32)}),
     {},
     {}},
    {"query_gid_table",
     [](Channel &channel) {
         ib_uverbs_gid_entry entries[2];
         return gid_table_query(channel, 0, entries, 2).error();
     },
     ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
           {in(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, "20000000 00000000"),
            in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, "00000000"),
            out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 64),
            out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(Context, Commands, testing::ValuesIn(kCommands), command_name);

class ContextTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};

    /// A file that the context may take over and close.
    int async_fd = open("/dev/null", O_RDONLY);
};

const std::string kGet =
    ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT,
          {out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4), out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
           in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"), out(UVERBS_ATTR_UHW_OUT, 8)});
const std::string kAllocEvents = ioctl(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
                                       {object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0)});

TEST_F(ContextTest, IsSetUpByIoctl)
{
    kernel.new_object = static_cast<uint64_t>(async_fd);
    kernel.answers = {{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, bytes("03000000")},
                      {UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, bytes("01000000 00000000")},
                      {UVERBS_ATTR_UHW_OUT, bytes("aabbccdd 00000000")}};
    Result<ContextInfo> context = context_get(channel, kDriverData);
    ASSERT_TRUE(context);
    EXPECT_EQ(kernel.take(), kGet + kAllocEvents);
    EXPECT_EQ(context->async_fd.get(), async_fd);
    EXPECT_EQ(context->num_comp_vectors, 3U);
    EXPECT_EQ(context->core_support, 1U);
    EXPECT_EQ(driver_answer, 0xddccbbaaU);
}

TEST_F(ContextTest, IsSetUpByAWriteCommandWhereThereIsNoMethod)
{
    kernel.no_methods = true;
    uint32_t answer[] = {static_cast<uint32_t>(async_fd), 3};
    kernel.written = std::string(reinterpret_cast<const char *>(answer), sizeof answer);
    Result<ContextInfo> context = context_get(channel, kDriverData);
    ASSERT_TRUE(context);
    EXPECT_EQ(kernel.take(),
              kGet + probe(kGet) +
                  invoke(IB_USER_VERBS_CMD_GET_CONTEXT, "00000000 00000000", 8, "d0d1d2d3 d4d5d6d7", 8));
    EXPECT_EQ(context->async_fd.get(), async_fd);
    EXPECT_EQ(context->num_comp_vectors, 3U);
    EXPECT_EQ(context->core_support, 0U);
}

TEST_F(ContextTest, IsSetUpByWriteWhereThereIsNoIoctl)
{
    kernel.no_ioctl = true;
    uint32_t answer[] = {static_cast<uint32_t>(async_fd), 3, 0xaa, 0xbb};
    kernel.written = std::string(reinterpret_cast<const char *>(answer), sizeof answer);
    Result<ContextInfo> context = context_get(channel, kDriverData);
    ASSERT_TRUE(context);
    EXPECT_EQ(kernel.take(), kGet + write("00000000 06000400 answer d0d1d2d3 d4d5d6d7"));
    EXPECT_EQ(context->async_fd.get(), async_fd);
    EXPECT_EQ(driver_answer, 0xbb000000aaU);
}

TEST_F(ContextTest, TakesFilesOfTheDriverWhereThereIsAMethod)
{
    const int files[] = {5, 6, 7};
    kernel.new_object = static_cast<uint64_t>(async_fd);
    ASSERT_TRUE(context_get(channel, {}, files));
    EXPECT_EQ(kernel.take(), ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT,
                                   {out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
                                    out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
                                    in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, "05000000 06000000 07000000")}) +
                                 kAllocEvents);
}

TEST_F(ContextTest, DoesNotLoseFilesOfTheDriver)
{
    close(async_fd);
    const int files[] = {5};
    kernel.no_methods = true;
    EXPECT_EQ(context_get(channel, {}, files).error(), EOPNOTSUPP);
    kernel.no_ioctl = true;
    EXPECT_EQ(context_get(channel, {}, files).error(), EOPNOTSUPP);
}

TEST_F(ContextTest, TellsThePortsSpeed)
{
    close(async_fd);
    kernel.answers = {{UVERBS_ATTR_QUERY_PORT_SPEED_RESP, bytes("a00f0000 01000000")}};
    EXPECT_EQ(*port_speed_query(channel, 1), 4000 + (uint64_t{1} << 32));
}

TEST_F(ContextTest, PassesErrorsOn)
{
    kernel.error = ENODEV;
    EXPECT_EQ(context_get(channel, {}).error(), ENODEV);
    close(async_fd);
}

TEST_F(ContextTest, OfAnotherProcessIsDescribed)
{
    kernel.answers = {{UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, bytes("03000000")},
                      {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, bytes("01000000 00000000")}};
    Result<ContextDescription> context = context_query(channel, nullptr);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->num_comp_vectors, 3U);
    EXPECT_EQ(context->core_support, 1U);
    close(async_fd);
}

TEST_F(ContextTest, TakesThePortsAnswer)
{
    close(async_fd);
    kernel.answers = {{UVERBS_ATTR_QUERY_PORT_RESP, bytes("01000000")}};
    ib_uverbs_query_port_resp_ex port;
    ASSERT_TRUE(port_query(channel, 1, port, {}));
    EXPECT_EQ(port.legacy_resp.port_cap_flags, 1U);

    kernel.no_methods = true;
    kernel.written = bytes("02000000");
    std::memset(&port, 0xff, sizeof port);
    Channel older{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
    ASSERT_TRUE(port_query(older, 1, port, {}));
    EXPECT_EQ(port.legacy_resp.port_cap_flags, 2U);
    EXPECT_EQ(port.port_cap_flags2, 0) << "which the write command does not know";
}

TEST_F(ContextTest, TakesTheGidTablesAnswer)
{
    close(async_fd);
    kernel.answers = {{UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
                       bytes("fe800000 00000000 00000000 00000001 01000000 02000000 03000000 04000000")},
                      {UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, bytes("01000000 00000000")}};
    ib_uverbs_gid_entry entries[2] = {};
    Result<size_t> count = gid_table_query(channel, 0, entries, 2);
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, 1U);
    EXPECT_EQ(entries[0].gid_index, 1U);
    EXPECT_EQ(entries[0].netdev_ifindex, 4U);
}

}  // namespace
}  // namespace verbs::uverbs::test
