// SPDX-License-Identifier: BSD-2-Clause
// The command lines of the ping-pong programs: options that all of them take, and the text that explains
// them.
#pragma once

#include <getopt.h>
#include <infiniband/verbs.h>

#include <span>

namespace tools {

// Values of the options that several programs take, with their defaults.
struct PingpongOptions {
    int tcp_port = 18515;
    const char *device_name = nullptr;  // null: the first device
    int ib_port = 1;
    int size = 4096;  // of a message, in bytes
    ibv_mtu path_mtu = IBV_MTU_1024;
    int rx_depth = 500;
    unsigned iterations = 1000;
    int service_level = 0;
    bool use_events = false;
    int gid_index = -1;  // negative: no GID
    bool check_data = false;
    const char *server = nullptr;  // null: be the server
};

// An option that a program takes, and its lines of the usage text.
struct OptionRow {
    option long_option;  // its val is the letter
    const char *help;
};

constexpr OptionRow with_argument(const char *name, int letter, const char *help)
{
    return {{name, required_argument, nullptr, letter}, help};
}

constexpr OptionRow without_argument(const char *name, int letter, const char *help)
{
    return {{name, no_argument, nullptr, letter}, help};
}

// Options that take_option() knows.
constexpr OptionRow kPortOption =
    with_argument("port", 'p', "  -p, --port=<port>      listen on/connect to port <port> (default 18515)\n");
constexpr OptionRow kDeviceOption = with_argument(
    "ib-dev", 'd', "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n");
constexpr OptionRow kIbPortOption =
    with_argument("ib-port", 'i', "  -i, --ib-port=<port>   use port <port> of IB device (default 1)\n");
constexpr OptionRow kSizeOption =
    with_argument("size", 's', "  -s, --size=<size>      size of message to exchange (default 4096)\n");
constexpr OptionRow kMtuOption =
    with_argument("mtu", 'm', "  -m, --mtu=<size>       path MTU (default 1024)\n");
constexpr OptionRow kRxDepthOption = with_argument(
    "rx-depth", 'r', "  -r, --rx-depth=<dep>   number of receives to post at a time (default 500)\n");
constexpr OptionRow kItersOption =
    with_argument("iters", 'n', "  -n, --iters=<iters>    number of exchanges (default 1000)\n");
constexpr OptionRow kServiceLevelOption =
    with_argument("sl", 'l', "  -l, --sl=<sl>          service level value\n");
constexpr OptionRow kEventsOption =
    without_argument("events", 'e', "  -e, --events           sleep on CQ events (default poll)\n");
constexpr OptionRow kGidIndexOption =
    with_argument("gid-idx", 'g', "  -g, --gid-idx=<gid index> local port gid index\n");
constexpr OptionRow kCheckOption =
    without_argument("chk", 'c', "  -c, --chk              validate received buffer\n");

enum class Taken { kYes, kInvalid, kUnknown };

// Takes one of the options above, as getopt_long() found it. kUnknown: another letter.
Taken take_option(int letter, const char *argument, PingpongOptions *options);

// The number that an argument of -s, -r, -n and their like says.
int parse_int(const char *text);

// The value of enum ibv_mtu for a number of bytes; 0 if there is none.
int mtu_from_bytes(int bytes);

// Reads the command line: options of the rows, each through `take` (a bool function of letter and argument
// that is false for what it does not accept), and the server's name behind them. False: it has anything else.
template <class Take>
bool parse_options(int argc, char **argv, std::span<const OptionRow> rows, PingpongOptions *options,
                   Take take)
{
    // Room for each letter and its colon, and for the end of both lists.
    constexpr size_t kMost = 24;
    option long_options[kMost + 1] = {};
    char letters[2 * kMost + 1] = {};
    size_t length = 0;
    for (size_t i = 0; i < rows.size() && i < kMost; ++i) {
        long_options[i] = rows[i].long_option;
        letters[length++] = static_cast<char>(rows[i].long_option.val);
        if (rows[i].long_option.has_arg == required_argument)
            letters[length++] = ':';
    }
    for (int letter; (letter = getopt_long(argc, argv, letters, long_options, nullptr)) != -1;)
        if (letter == '?' || !take(letter, optarg))
            return false;
    if (optind == argc - 1)
        options->server = argv[optind];
    return optind >= argc - 1;
}

// Whether a game with these options can end; else writes the reason to stderr. False: a size or a number of
// receives below zero, or messages to receive and no receive for them.
bool check_numbers(const PingpongOptions &options);

// Writes the usage text for the rows to stdout.
void print_usage(const char *program, std::span<const OptionRow> rows);

}  // namespace tools
