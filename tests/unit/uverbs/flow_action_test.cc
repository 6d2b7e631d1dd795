// SPDX-License-Identifier: BSD-2-Clause
// Commands for flow actions.
#include "uverbs/flow_action.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

ibv_flow_action_esp esp = {.spi = 1, .seq = 2, .tfc_pad = 3, .flags = 4, .hard_limit_pkts = 5};
ibv_flow_action_esp_keymat_aes_gcm keymat = {
    .iv = 1, .iv_algo = 0, .salt = 3, .icv_len = 4, .key_len = 5, .aes_key = {6}};
ibv_flow_action_esp_replay_bmp replay = {.size = 64};
ibv_flow_action_esp_encap encap = {.len = 0x10, .type = IBV_FLOW_SPEC_UDP};

const ibv_flow_action_esp_attr kWhole = {.esp_attr = &esp,
                                         .keymat_proto = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
                                         .keymat_len = sizeof keymat,
                                         .keymat_ptr = &keymat,
                                         .replay_proto = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP,
                                         .replay_len = sizeof replay,
                                         .replay_ptr = &replay,
                                         .esp_encap = &encap,
                                         .comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN,
                                         .esn = 0xe5e5};

const Command kCommands[] = {
    {"create_esp",
     [](Channel &channel) { return flow_action_create_esp(channel, kWhole, nullptr).error(); },
     ioctl(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE,
           {object(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, 0),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, "01000000 02000000 03000000 04000000 05000000 00000000"),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, "e5e50000"),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT,
               "01000000 00000000 00000000 03000000 04000000 05000000 06000000 00000000 00000000 00000000 "
               "00000000 00000000 00000000 00000000"),
            kind(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY, 1, "40000000"),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, "00000000 00000000 00000000 00000000 10004100 00000000")}),
     {},
     {}},
    {"create_esp_with_driver",
     [](Channel &channel) {
         DriverAttributes driver;
         return flow_action_create_esp(channel, kWhole, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE,
           {object(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, 0),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, "01000000 02000000 03000000 04000000 05000000 00000000"),
            in(0x1004, "bc0a0000"), out(0x1005, 4), in(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, "e5e50000"),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT,
               "01000000 00000000 00000000 03000000 04000000 05000000 06000000 00000000 00000000 00000000 "
               "00000000 00000000 00000000 00000000"),
            kind(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY, 1, "40000000"),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, "00000000 00000000 00000000 00000000 10004100 00000000")}),
     {},
     {}},
    {"modify_esp",
     [](Channel &channel) {
         return flow_action_modify_esp(channel, 0xfa, {.esp_attr = &esp, .esn = 0xe5e5}, nullptr).error();
     },
     ioctl(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY,
           {object(UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, 0xfa),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, "01000000 02000000 03000000 04000000 05000000 00000000")}),
     {},
     {}},
    {"modify_esn",
     [](Channel &channel) {
         return flow_action_modify_esp(channel, 0xfa,
                                       {.comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN, .esn = 0xe5e5}, nullptr)
             .error();
     },
     ioctl(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY,
           {object(UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, 0xfa),
            in(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, "e5e50000")}),
     {},
     {}},
    {"destroy",
     [](Channel &channel) { return flow_action_destroy(channel, 0xfa).error(); },
     ioctl(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY,
           {object(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, 0xfa)}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(FlowAction, Commands, testing::ValuesIn(kCommands), command_name);

class FlowActionTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(FlowActionTest, HasTheKernelsHandle)
{
    kernel.new_object = 0x70d;
    EXPECT_EQ(*flow_action_create_esp(channel, kWhole, nullptr), 0x70dU);
}

TEST_F(FlowActionTest, IsRefusedWithALengthOfNothing)
{
    EXPECT_EQ(flow_action_create_esp(channel, {.keymat_len = 56}, nullptr).error(), EINVAL);
    EXPECT_EQ(flow_action_modify_esp(channel, 0xfa, {.replay_len = 4}, nullptr).error(), EINVAL);
    EXPECT_EQ(kernel.take(), "");
}

}  // namespace
}  // namespace verbs::uverbs::test
