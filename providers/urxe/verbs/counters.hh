// SPDX-License-Identifier: BSD-2-Clause
// Counters of the frames that flow rules match.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

namespace urxe {

ibv_counters *counters_create(ibv_context *context, ibv_counters_init_attr *attr);
int counters_destroy(ibv_counters *counters);
int counters_attach_to_flow(ibv_counters *counters, ibv_counter_attach_attr *attr, ibv_flow *flow);
int counters_read(ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags);

/// A rule begins and ends to use them. Under the lock of rules.
void counters_bind(ibv_counters &counters);
void counters_unbind(ibv_counters &counters);
/// Counts a frame of so many bytes. One thread at a time.
void counters_count(ibv_counters &counters, size_t bytes);

}  // namespace urxe
