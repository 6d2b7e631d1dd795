// SPDX-License-Identifier: BSD-2-Clause
// Random requests from one endpoint to another, and what has to have come of them.
#pragma once

#include <map>
#include <vector>

#include "world.hh"

namespace urxe::transport::test {

// Sanitizers, and what else makes tests slow, get fewer schedules.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSlower = 10;
#else
constexpr uint64_t kSlower = 1;
#endif

/// Memory that a stream reads and writes, then its counter.
constexpr size_t kRegion = 40960;
constexpr size_t kPerStream = kRegion + 64;

/// What a receive has to hold.
struct Expected {
    Receipt receipt;
    Bytes bytes;
};

/// The requests of from, and what they do to to: in the kPerStream bytes of its memory at base, and in a
/// counter at shared that streams add to together.
class Stream {
public:
    Stream(World &world, Endpoint &from, Endpoint &to, size_t base, size_t shared,
           const RequesterConfig &config)
        : world_(world),
          from_(from),
          to_(to),
          base_(base),
          shared_(shared),
          config_(config),
          shadow_(kPerStream)
    {
    }
    Stream(const Stream &) = delete;

    /// Posts that many requests in the course of time.
    void start(unsigned requests);

    /// What was added to the shared counter.
    uint64_t added() const { return added_; }

    /// Expects everything to be done, once and in order.
    void check() const;

private:
    uint32_t length();
    Bytes data(size_t size);
    bool is_reading() const;
    void expect_receive(const Request &request, const Bytes &bytes);
    void post();
    Bytes write(Request &request);
    void send(Request &request, uint32_t index, Bytes &local);
    void count(Request &request, uint32_t index);

    World &world_;
    Endpoint &from_;
    Endpoint &to_;
    size_t base_;
    size_t shared_;
    RequesterConfig config_;
    Bytes shadow_;                       // of the memory, as of the last request that was posted
    std::map<uint32_t, Bytes> results_;  // of reads and atomics, by request
    std::vector<Expected> expected_;
    std::vector<uint32_t> locals_;
    uint64_t added_ = 0;
    uint32_t atomics_ = 0;
    uint32_t flushes_ = 0;
    size_t invalidations_ = 0;
};

}  // namespace urxe::transport::test
