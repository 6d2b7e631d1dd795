// SPDX-License-Identifier: BSD-2-Clause
// What a process counts of its packets, under the names that the kernel's rxe driver has for it where it has one.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/counter.hh"

namespace urxe::link {

/// Beside those of transport::Counter.
enum class Counter : uint8_t {
    kSent,
    kReceived,
    kSendError,  ///< the kernel did not take one
    // Why one was dropped:
    kBadHeader,  ///< its form; a connection may answer it
    kBadIcrc,
    kBadQpn,     ///< no QP has the number, or it is none of a group's
    kBadSource,  ///< it is not the connection's peer
    kBadPkey,
};

/// Lives in zeroed memory. Any thread.
class Counters {
public:
    void add(Counter counter, uint64_t count = 1) { add(static_cast<size_t>(counter), count); }
    void add(transport::Counter counter) { add(kOwn + static_cast<size_t>(counter), 1); }
    /// Writes those that are not zero to the log of the device, at the debug level.
    void log(ibv_context *context) const;

private:
    static constexpr size_t kOwn = 8;
    static constexpr size_t kCount = kOwn + transport::kCounters;

    void add(size_t index, uint64_t count) { values_[index].fetch_add(count, std::memory_order_relaxed); }

    std::atomic<uint64_t> values_[kCount];
};

}  // namespace urxe::link
