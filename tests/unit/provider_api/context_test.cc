// SPDX-License-Identifier: BSD-2-Clause
// Setting up a context, and what its ports tell.
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include <cstring>

#include "fake_context.hh"

namespace verbs::test {
namespace {

using namespace uverbs::test;

class ContextTest : public FakeContext {
protected:
    verbs_context &whole() { return *verbs_get_ctx(context); }
    int get(ibv_fd_arr *files)
    {
        struct ibv_get_context command {};
        ib_uverbs_get_context_resp response{};
        return ibv_cmd_get_context(&whole(), &command, sizeof command, files, &response, sizeof response);
    }
};

TEST_F(ContextTest, HandsFilesOfTheDriverOn)
{
    int numbers[] = {5, 6, 7};
    ibv_fd_arr files = {.arr = numbers, .count = 3};
    kernel.new_object = static_cast<uint64_t>(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(get(&files), 0);
    EXPECT_NE(kernel.take().find(in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, "05000000 06000000 07000000")),
              std::string::npos);
}

TEST_F(ContextTest, RefusesFilesThatOlderKernelsCannotTake)
{
    int number = 5;
    ibv_fd_arr files = {.arr = &number, .count = 1};
    kernel.no_methods = true;
    EXPECT_CREATION_FAILS(get(&files), EOPNOTSUPP);
    EXPECT_EQ(context->async_fd, -1);
}

TEST_F(ContextTest, FillsMoreDeviceAttributesThanItKnowsWithZeros)
{
    struct {
        ibv_device_attr_ex known;
        char newer[64];
    } attr;
    memset(&attr, 0xab, sizeof attr);
    ASSERT_EQ(ibv_cmd_query_device_any(context, nullptr, &attr.known, sizeof attr, nullptr, nullptr), 0);
    EXPECT_EQ(std::string(attr.newer, sizeof attr.newer), std::string(sizeof attr.newer, '\0'));
}

TEST_F(ContextTest, TellsThePortsSpeedWhereTheKernelKnowsIt)
{
    uint64_t speed = 7;
    kernel.answers = {{UVERBS_ATTR_QUERY_PORT_SPEED_RESP, bytes("a00f0000 00000000")}};
    EXPECT_EQ(ibv_cmd_query_port_speed(context, 1, &speed), 0);
    EXPECT_EQ(speed, 4000u);
    speed = 7;
    for (int error : {EINVAL, EOPNOTSUPP, EIO}) {
        kernel.error = error;
        EXPECT_EQ(ibv_cmd_query_port_speed(context, 1, &speed), error);
    }
    kernel.no_methods = true;
    EXPECT_EQ(ibv_cmd_query_port_speed(context, 1, &speed), EOPNOTSUPP);
    kernel.no_ioctl = true;
    EXPECT_EQ(ibv_cmd_query_port_speed(context, 1, &speed), EOPNOTSUPP);
    EXPECT_EQ(speed, 7u);
}

}  // namespace
}  // namespace verbs::test
