// SPDX-License-Identifier: BSD-2-Clause
// What the ping-pong programs have in common besides the exchange of addresses: options, devices, buffers, reports.
#pragma once

#include <infiniband/verbs.h>
#include <sys/time.h>

#include <cstddef>

#include "pingpong_exchange.hh"

namespace tools {

// The options that all ping-pong programs take, with their defaults.
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

enum class Taken { kYes, kInvalid, kUnknown };

// Takes one option, as getopt_long() found it, from p, d, i, s, m, r, n, l, e, g and c. kUnknown: another letter.
Taken take_option(int letter, const char *argument, PingpongOptions *options);

// Takes what follows the options, the server's name, if anything. False if there is more than that.
bool take_server(int argc, char **argv, int index, PingpongOptions *options);

// Seeds the choice of packet sequence numbers; random_psn() then gives one.
void seed_psn();
unsigned random_psn();

// Opens the device of that name, or the first. On failure writes the reason to stderr and returns null.
ibv_context *open_device(const char *name);

// Fills lid and gid with the port's. On failure writes the reason to stderr.
bool query_local_address(ibv_context *context, const PingpongOptions &options, Address *address);

// A message buffer that starts on a page. Not copyable; free with free().
class PageBuffer {
public:
    PageBuffer() = default;
    PageBuffer(const PageBuffer &) = delete;
    PageBuffer &operator=(const PageBuffer &) = delete;
    ~PageBuffer();

    // On failure writes the reason to stderr.
    bool allocate(int size);

    // The pattern that a client sends when data are checked, and the check of what arrived, which reports each page
    // that differs on stdout.
    void mark_pages();
    void check_pages() const;

    char *data() const { return data_; }
    size_t size() const { return size_; }

private:
    char *data_ = nullptr;
    size_t size_ = 0;
    size_t page_size_ = 0;
};

// Reads the clock; on failure writes the reason to stderr.
bool read_clock(timeval *now);

// Writes how much was sent, both ways together, and how long it took, to stdout.
void report_rate(const PingpongOptions &options, const timeval &start, const timeval &end);

}  // namespace tools
