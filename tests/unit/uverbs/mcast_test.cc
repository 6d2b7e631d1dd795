// SPDX-License-Identifier: BSD-2-Clause
// Commands for multicast groups.
#include "uverbs/mcast.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const ibv_gid kGroup = {.raw = {0xff, 0x0e, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}};

const Command kCommands[] = {
    {"attach",
     [](Channel &channel) { return mcast_attach(channel, 0x33, kGroup, 0xc001).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_ATTACH_MCAST, "ff0e0102 03040506 0708090a 0b0c0d0e 33000000 01c00000"),
     write("1e000000 08000000 ff0e0102 03040506 0708090a 0b0c0d0e 33000000 01c00000")},
    {"detach",
     [](Channel &channel) { return mcast_detach(channel, 0x33, kGroup, 0xc001).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_DETACH_MCAST, "ff0e0102 03040506 0708090a 0b0c0d0e 33000000 01c00000"),
     write("1f000000 08000000 ff0e0102 03040506 0708090a 0b0c0d0e 33000000 01c00000")},
};

INSTANTIATE_TEST_SUITE_P(Mcast, Commands, testing::ValuesIn(kCommands), command_name);

}  // namespace
}  // namespace verbs::uverbs::test
