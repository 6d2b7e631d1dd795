// SPDX-License-Identifier: BSD-2-Clause
// ibv_uc_pingpong: two programs send each other a message in turn over an unreliable connection.
#include "pingpong_game.hh"

using namespace tools;

namespace {

constexpr OptionRow kRows[] = {kPortOption,   kDeviceOption,   kIbPortOption, kSizeOption,
                               kMtuOption,    kRxDepthOption,  kItersOption,  kServiceLevelOption,
                               kEventsOption, kGidIndexOption, kCheckOption};

struct UcGame final : Game {
    explicit UcGame(const PingpongOptions &options) : Game(options, IBV_QPT_UC) {}
};

}  // namespace

int main(int argc, char **argv)
{
    seed_psn();
    PingpongOptions options;
    auto take = [&options](int letter, const char *argument) {
        return take_option(letter, argument, &options) == Taken::kYes;
    };
    if (!parse_options(argc, argv, kRows, &options, take)) {
        print_usage(argv[0], kRows);
        return 1;
    }
    return UcGame(options).run();
}
