// SPDX-License-Identifier: BSD-2-Clause
// Commands for address handles.
#include "uverbs/ah.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const ibv_ah_attr kDestination = {
    .grh = {.dgid = {.raw = {0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
            .flow_label = 0x12345,
            .sgid_index = 1,
            .hop_limit = 64,
            .traffic_class = 0x1c},
    .dlid = 0x4321,
    .sl = 3,
    .src_path_bits = 5,
    .static_rate = 7,
    .is_global = 1,
    .port_num = 2};

const Command kCommands[] = {
    {"create",
     [](Channel &channel) {
         return ah_create(channel, 0x1234567890, 0x11, kDestination,
                          {nullptr, 0, &driver_answer, sizeof driver_answer})
             .error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_CREATE_AH,
            "00000000 00000000 90785634 12000000 11000000 00000000 fe800102 03040506 0708090a 0b0c0d0e "
            "45230100 01401c00 21430305 07010200",
            4, "", 8),
     write("05000000 10000300 answer 90785634 12000000 11000000 00000000 fe800102 03040506 0708090a 0b0c0d0e "
           "45230100 01401c00 21430305 07010200")},
    {"destroy", [](Channel &channel) { return ah_destroy(channel, 0x99).error(); },
     ioctl(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, {object(UVERBS_ATTR_DESTROY_AH_HANDLE, 0x99)}),
     invoke(IB_USER_VERBS_CMD_DESTROY_AH, "99000000"), write("08000000 03000000 99000000")},
};

INSTANTIATE_TEST_SUITE_P(Ah, Commands, testing::ValuesIn(kCommands), command_name);

class AhTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

TEST_F(AhTest, HasTheKernelsHandle)
{
    kernel.written = bytes("99000000");
    EXPECT_EQ(*ah_create(channel, 0, 0x11, kDestination, {}), 0x99U);
}

}  // namespace
}  // namespace verbs::uverbs::test
