// SPDX-License-Identifier: BSD-2-Clause
// What requesters and responders count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urxe::transport {

enum class Counter : uint8_t {
    kDuplicateRequest,      ///< a request came that was carried out before
    kOutOfSequenceRequest,  ///< one came before those in front of it
    kBadQkey,               ///< a datagram had another key
    kSentRnrNak,
    kReceivedRnrNak,
    kReceivedSequenceNak,
    kRetry,  ///< packets were sent again: something was lost
    kRetryExceeded,
    kRnrRetryExceeded,
};
constexpr size_t kCounters = 9;

}  // namespace urxe::transport
