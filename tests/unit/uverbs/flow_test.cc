// SPDX-License-Identifier: BSD-2-Clause
// Commands for flow steering.
#include "uverbs/flow.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

/// A flow as programs lay it out: specifications directly behind it.
struct Flow {
    ibv_flow_attr attr = {.type = IBV_FLOW_ATTR_NORMAL,
                          .size = sizeof(Flow),
                          .priority = 7,
                          .num_of_specs = 3,
                          .port = 1,
                          .flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP};
    ibv_flow_spec_ipv4 ip = {.type = IBV_FLOW_SPEC_IPV4,
                             .size = sizeof(ibv_flow_spec_ipv4),
                             .val = {.src_ip = 0x0100000a, .dst_ip = 0x0200000a},
                             .mask = {.src_ip = 0xffffffff, .dst_ip = 0xffffffff}};
    ibv_flow_spec_tcp_udp udp = {.type = IBV_FLOW_SPEC_UDP,
                                 .size = sizeof(ibv_flow_spec_tcp_udp),
                                 .val = {.dst_port = 0xb712, .src_port = 0},
                                 .mask = {.dst_port = 0xffff, .src_port = 0}};
    ibv_flow_spec_action_tag tag = {
        .type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof(ibv_flow_spec_action_tag), .tag_id = 0x1234};
};

const Command kCommands[] = {
    {"create",
     [](Channel &channel) { return flow_create(channel, 0x33, Flow().attr, kDriverRequest).error(); },
     {},
     invoke(IB_USER_VERBS_EX_CMD_CREATE_FLOW | kExtended,
            "00000000 33000000 00000000 38000700 03000001 02000000 30000000 18000000 0a000001 0a000002 "
            "ffffffff ffffffff 41000000 10000000 12b70000 ffff0000 00100000 10000000 34120000 00000000",
            8, "d0d1d2d3 d4d5d6d7"),
     write("32000080 0a000100 answer 01000000 00000000 00000000 33000000 00000000 38000700 03000001 02000000 "
           "30000000 18000000 0a000001 0a000002 ffffffff ffffffff 41000000 10000000 12b70000 ffff0000 "
           "00100000 10000000 34120000 00000000 d0d1d2d3 d4d5d6d7")},
    {"create_without_specifications",
     [](Channel &channel) {
         ibv_flow_attr attr = {.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof attr, .port = 1};
         return flow_create(channel, 0x33, attr, {}).error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_CREATE_FLOW | kExtended,
            "00000000 33000000 03000000 00000000 00000001 00000000", 8),
     write(
         "32000080 03000100 answer 00000000 00000000 00000000 33000000 03000000 00000000 00000001 00000000")},
    {"destroy", [](Channel &channel) { return flow_destroy(channel, 0xf1).error(); },
     ioctl(UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, {object(UVERBS_ATTR_DESTROY_FLOW_HANDLE, 0xf1)}),
     invoke(IB_USER_VERBS_EX_CMD_DESTROY_FLOW | kExtended, "00000000 f1000000"),
     write("33000080 01000000 00000000 00000000 00000000 00000000 00000000 f1000000")},
};

INSTANTIATE_TEST_SUITE_P(Flow, Commands, testing::ValuesIn(kCommands), command_name);

class FlowTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(FlowTest, HasTheKernelsHandle)
{
    kernel.written = bytes("00000000 f1000000");
    EXPECT_EQ(*flow_create(channel, 0x33, Flow().attr, {}), 0xf1U);
}

TEST_F(FlowTest, IsRefusedWithASpecificationThatIsNone)
{
    Flow flow;
    flow.udp.type = static_cast<ibv_flow_spec_type>(0x99);
    EXPECT_EQ(flow_create(channel, 0x33, flow.attr, {}).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

}  // namespace
}  // namespace verbs::uverbs::test
