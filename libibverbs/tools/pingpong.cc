// SPDX-License-Identifier: BSD-2-Clause
// The common parts of the ping-pong programs.
#include "pingpong.hh"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace tools {
namespace {

int parse_int(const char *text)
{
    return static_cast<int>(strtoul(text, nullptr, 0));
}

// The value of enum ibv_mtu for a number of bytes; 0 if there is none.
int mtu_from_bytes(int bytes)
{
    for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; ++mtu)
        if (bytes == 128 << mtu)
            return mtu;
    return 0;
}

constexpr char kUntouched = 0x7b;
constexpr char kMark = 0;

}  // namespace

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

bool take_server(int argc, char **argv, int index, PingpongOptions *options)
{
    if (index == argc - 1)
        options->server = argv[index];
    return index >= argc - 1;
}

void seed_psn()
{
    srand48(getpid() * time(nullptr));
}

unsigned random_psn()
{
    return static_cast<unsigned>(lrand48()) & 0xffffff;
}

ibv_context *open_device(const char *name)
{
    ibv_device **devices = ibv_get_device_list(nullptr);
    if (!devices) {
        perror("Failed to get IB devices list");
        return nullptr;
    }
    ibv_device **device = devices;
    while (name && *device && strcmp(ibv_get_device_name(*device), name) != 0)
        ++device;
    ibv_context *context = nullptr;
    if (!*device && name)
        fprintf(stderr, "IB device %s not found\n", name);
    else if (!*device)
        fprintf(stderr, "No IB devices found\n");
    else if (!(context = ibv_open_device(*device)))
        fprintf(stderr, "Couldn't get context for %s\n", ibv_get_device_name(*device));
    ibv_free_device_list(devices);
    return context;
}

bool query_local_address(ibv_context *context, const PingpongOptions &options, Address *address)
{
    auto port_num = static_cast<uint8_t>(options.ib_port);
    ibv_port_attr port;
    if (ibv_query_port(context, port_num, &port)) {
        fprintf(stderr, "Couldn't get port info\n");
        return false;
    }
    address->lid = port.lid;
    if (port.link_layer != IBV_LINK_LAYER_ETHERNET && !port.lid) {
        fprintf(stderr, "Couldn't get local LID\n");
        return false;
    }
    memset(&address->gid, 0, sizeof(address->gid));
    if (options.gid_index >= 0 && ibv_query_gid(context, port_num, options.gid_index, &address->gid)) {
        fprintf(stderr, "can't read sgid of index %d\n", options.gid_index);
        return false;
    }
    return true;
}

PageBuffer::~PageBuffer()
{
    free(data_);
}

bool PageBuffer::allocate(int size)
{
    page_size_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    // A negative size becomes one that no machine has.
    size_ = static_cast<size_t>(size);
    data_ = static_cast<char *>(memalign(page_size_, size_));
    if (!data_) {
        fprintf(stderr, "Couldn't allocate work buf.\n");
        return false;
    }
    memset(data_, kUntouched, size_);
    return true;
}

void PageBuffer::mark_pages()
{
    for (size_t offset = 0; offset < size_; offset += page_size_)
        data_[offset] = kMark;
}

void PageBuffer::check_pages() const
{
    for (size_t offset = 0; offset < size_; offset += page_size_)
        if (data_[offset] != kMark)
            printf("invalid data in page %zu\n", offset / page_size_);
}

bool read_clock(timeval *now)
{
    if (!gettimeofday(now, nullptr))
        return true;
    perror("gettimeofday");
    return false;
}

void report_rate(const PingpongOptions &options, const timeval &start, const timeval &end)
{
    // Single precision, so that the digits are those that people's scripts have seen so far.
    float microseconds =
        static_cast<float>((end.tv_sec - start.tv_sec) * 1000000 + (end.tv_usec - start.tv_usec));
    long long bytes = static_cast<long long>(options.size) * options.iterations * 2;
    printf("%lld bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, microseconds / 1000000.,
           static_cast<double>(bytes) * 8. / microseconds);
    printf("%d iters in %.2f seconds = %.2f usec/iter\n", static_cast<int>(options.iterations),
           microseconds / 1000000., microseconds / static_cast<float>(options.iterations));
}

}  // namespace tools
