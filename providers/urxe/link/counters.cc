// SPDX-License-Identifier: BSD-2-Clause
// Telling of the packets that were counted.
#include "link/counters.hh"

#include <infiniband/driver.h>

#include <cinttypes>
#include <cstdio>
#include <iterator>

namespace urxe::link {

void Counters::log(ibv_context *context) const
{
    static constexpr const char *kNames[] = {"sent_pkts",
                                             "rcvd_pkts",
                                             "send_err",
                                             "bad_header",
                                             "bad_icrc",
                                             "bad_qpn",
                                             "bad_source",
                                             "bad_pkey",
                                             "duplicate_request",
                                             "out_of_seq_request",
                                             "bad_qkey",
                                             "send_rnr_err",
                                             "rcvd_rnr_err",
                                             "rcvd_seq_err",
                                             "completer_retry_err",
                                             "retry_exceeded_err",
                                             "retry_rnr_exceeded_err"};
    static_assert(std::size(kNames) == kCount);
    // As long as all names with the largest numbers.
    char text[kCount * 48] = "";
    size_t length = 0;
    for (size_t i = 0; i < kCount; ++i)
        if (const uint64_t value = values_[i].load(std::memory_order_relaxed); value != 0)
            length += static_cast<size_t>(
                std::snprintf(text + length, sizeof text - length, " %s %" PRIu64, kNames[i], value));
    if (length != 0)
        __verbs_log(verbs_get_ctx(context), VERBS_LOG_DEBUG, "urxe: packets of this process:%s", text);
}

}  // namespace urxe::link
