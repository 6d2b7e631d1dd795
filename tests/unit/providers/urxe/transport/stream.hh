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

/// What can be wrong with a request.
enum class Flaw : uint8_t { kKey, kRange, kAlignment, kLocal, kReceive };
constexpr unsigned kFlaws = 5;

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

    /// Gives the request of that index a flaw; one more is posted after it.
    void break_at(uint32_t index, Flaw flaw)
    {
        flawed_ = index;
        flaw_ = flaw;
    }

    /// What was added to the shared counter.
    uint64_t added() const { return added_; }

    /// Expects everything to be done, once and in order.
    void check() const;

    /// Expects what came before the flawed request to be done, and that to fail. Where packets get lost the
    /// requester may give up instead, at that or an earlier one, since one that failed answers no more.
    void check_broken(bool is_lossy) const;

private:
    uint32_t length();
    Bytes data(size_t size);
    bool is_reading() const;
    void expect_receive(const Request &request, const Bytes &bytes);
    void check_receives(size_t count) const;
    void check_results() const;
    void post();
    void post_flawed();
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
    uint32_t flawed_ = UINT32_MAX;
    Flaw flaw_{};
    ibv_wc_status flaw_status_ = IBV_WC_SUCCESS;
    uint64_t added_ = 0;
    uint32_t atomics_ = 0;
    uint32_t flushes_ = 0;
    size_t invalidations_ = 0;
};

}  // namespace urxe::transport::test
