// SPDX-License-Identifier: BSD-2-Clause
// The options that the ping-pong programs share.
#include "pingpong_options.hh"

#include <cstdio>
#include <cstdlib>

namespace tools {

int parse_int(const char *text)
{
    return static_cast<int>(strtoul(text, nullptr, 0));
}

int mtu_from_bytes(int bytes)
{
    for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; ++mtu)
        if (bytes == 128 << mtu)
            return mtu;
    return 0;
}

Taken take_option(int letter, const char *argument, PingpongOptions *options)
{
    auto valid_if = [](bool valid) { return valid ? Taken::kYes : Taken::kInvalid; };
    switch (letter) {
        case 'p': {
            unsigned long port = strtoul(argument, nullptr, 0);
            options->tcp_port = static_cast<int>(port);
            return valid_if(port <= 65535);
        }
        case 'd':
            options->device_name = argument;
            return Taken::kYes;
        case 'i':
            options->ib_port = static_cast<int>(strtol(argument, nullptr, 0));
            return valid_if(options->ib_port >= 1);
        case 's':
            options->size = parse_int(argument);
            return Taken::kYes;
        case 'm': {
            int mtu = mtu_from_bytes(static_cast<int>(strtol(argument, nullptr, 0)));
            options->path_mtu = static_cast<ibv_mtu>(mtu);
            return valid_if(mtu != 0);
        }
        case 'r':
            options->rx_depth = parse_int(argument);
            return Taken::kYes;
        case 'n':
            options->iterations = static_cast<unsigned>(parse_int(argument));
            return Taken::kYes;
        case 'l':
            options->service_level = static_cast<int>(strtol(argument, nullptr, 0));
            return Taken::kYes;
        case 'e':
            options->use_events = true;
            return Taken::kYes;
        case 'g':
            options->gid_index = static_cast<int>(strtol(argument, nullptr, 0));
            return Taken::kYes;
        case 'c':
            options->check_data = true;
            return Taken::kYes;
        default:
            return Taken::kUnknown;
    }
}

bool check_numbers(const PingpongOptions &options)
{
    if (options.size < 0) {
        fprintf(stderr, "size %d must not be negative\n", options.size);
        return false;
    }
    if (options.rx_depth < 0 || (options.rx_depth == 0 && options.iterations > 0)) {
        fprintf(stderr, "rx_depth %d is too small -- must have at least one receive\n", options.rx_depth);
        return false;
    }
    return true;
}

void print_usage(const char *program, std::span<const OptionRow> rows)
{
    printf(
        "Usage:\n"
        "  %s            start a server and wait for connection\n"
        "  %s <host>     connect to server at <host>\n"
        "\n"
        "Options:\n",
        program, program);
    for (const OptionRow &row : rows)
        fputs(row.help, stdout);
}

}  // namespace tools
