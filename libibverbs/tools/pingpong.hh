// SPDX-License-Identifier: BSD-2-Clause
// What the ping-pong programs have in common besides options and the exchange of addresses: devices, buffers,
// reports.
#pragma once

#include <infiniband/verbs.h>
#include <sys/time.h>

#include <cstddef>

#include "open_device.hh"
#include "pingpong_exchange.hh"
#include "pingpong_options.hh"

namespace tools {

// Seeds the choice of packet sequence numbers; random_psn() then gives one.
void seed_psn();
unsigned random_psn();

// In what the programs differ about their own address.
struct AddressRules {
    bool needs_lid;           // on InfiniBand, a port without one will not do
    const char *gid_failure;  // said before the index of a GID that cannot be read
};
constexpr AddressRules kConnectedRules = {true, "can't read sgid of index"};

// Fills lid and gid with the port's. On failure writes the reason to stderr.
bool query_local_address(ibv_context *context, const PingpongOptions &options, const AddressRules &rules,
                         Address *address);

// A message buffer that starts on a page. Not copyable; free with free().
class PageBuffer {
public:
    static constexpr char kUntouched = 0x7b;

    PageBuffer() = default;
    PageBuffer(const PageBuffer &) = delete;
    PageBuffer &operator=(const PageBuffer &) = delete;
    ~PageBuffer();

    // Fills `size` bytes, and `head` bytes in front of them, with `filling`. On failure writes the reason to
    // stderr.
    bool allocate(int size, int head = 0, char filling = kUntouched);

    // The pattern that a client sends when data are checked, and the check of what arrived, which reports
    // each page that differs on stdout.
    void mark_pages();
    void check_pages() const;

    // All of it, and the message alone, which ends it.
    char *data() const { return data_; }
    size_t size() const { return size_; }
    char *message() const { return data_ + head_; }
    size_t message_size() const { return size_ - head_; }

private:
    char *data_ = nullptr;
    size_t size_ = 0;
    size_t head_ = 0;
    size_t page_size_ = 0;
};

// Reads the clock; on failure writes the reason to stderr.
bool read_clock(timeval *now);

// Writes how much was sent, both ways together, and how long it took, to stdout.
void report_rate(const PingpongOptions &options, const timeval &start, const timeval &end);

// Destroys the object, if there is one. Checked, a failure is told of on stderr and is the result.
template <class Object, class Destroyer>
bool destroy(bool checked, Object *&object, Destroyer destroyer, const char *message)
{
    if (object && destroyer(object) && checked)
        return failed(message);
    object = nullptr;
    return true;
}

}  // namespace tools
