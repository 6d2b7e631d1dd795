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

constexpr char kMark = 0;

}  // namespace

void seed_psn()
{
    srand48(getpid() * time(nullptr));
}

unsigned random_psn()
{
    return static_cast<unsigned>(lrand48()) & 0xffffff;
}

bool query_local_address(ibv_context *context, const PingpongOptions &options, const AddressRules &rules,
                         Address *address)
{
    auto port_num = static_cast<uint8_t>(options.ib_port);
    ibv_port_attr port;
    if (ibv_query_port(context, port_num, &port)) {
        fprintf(stderr, "Couldn't get port info\n");
        return false;
    }
    address->lid = port.lid;
    if (rules.needs_lid && port.link_layer != IBV_LINK_LAYER_ETHERNET && !port.lid) {
        fprintf(stderr, "Couldn't get local LID\n");
        return false;
    }
    memset(&address->gid, 0, sizeof(address->gid));
    if (options.gid_index >= 0 && ibv_query_gid(context, port_num, options.gid_index, &address->gid)) {
        fprintf(stderr, "%s %d\n", rules.gid_failure, options.gid_index);
        return false;
    }
    return true;
}

PageBuffer::~PageBuffer()
{
    free(data_);
}

bool PageBuffer::allocate(int size, int head, char filling)
{
    page_size_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    head_ = static_cast<size_t>(head);
    // A negative size becomes one that no machine has.
    size_ = static_cast<size_t>(size) + head_;
    data_ = static_cast<char *>(memalign(page_size_, size_));
    if (!data_)
        return failed("Couldn't allocate work buf.");
    memset(data_, filling, size_);
    return true;
}

void PageBuffer::mark_pages()
{
    for (size_t offset = 0; offset < message_size(); offset += page_size_)
        message()[offset] = kMark;
}

void PageBuffer::check_pages() const
{
    for (size_t offset = 0; offset < message_size(); offset += page_size_)
        if (message()[offset] != kMark)
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
