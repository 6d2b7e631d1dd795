// SPDX-License-Identifier: BSD-2-Clause
// Creating, attaching and reading counters.
#include "verbs/counters.hh"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/lock.hh"
#include "common/memory.hh"

namespace urxe {
namespace {

constexpr uint32_t kPoints = 64;   ///< that a set of counters can have
constexpr uint32_t kIndices = 64;  ///< places for their values

struct Counters {
    ibv_counters counters;  // must be first
    std::atomic<uint32_t> rules;
    std::atomic<uint64_t> packets, bytes;  ///< of all rules so far
    common::Mutex lock;                    ///< of what follows
    uint32_t num_points, num_values;
    struct Point {
        uint32_t index;
        ibv_counter_description what;
        uint64_t before;  ///< what had been counted when it was attached
    } points[kPoints];
};

Counters &to_counters(ibv_counters *counters)
{
    return *reinterpret_cast<Counters *>(counters);
}

uint64_t value_of(const Counters &counters, ibv_counter_description what)
{
    return (what == IBV_COUNTER_PACKETS ? counters.packets : counters.bytes).load(std::memory_order_relaxed);
}

}  // namespace

ibv_counters *counters_create(ibv_context *context, ibv_counters_init_attr *attr)
{
    if (attr != nullptr && attr->comp_mask != 0)
        return common::null_with(EINVAL);
    auto *counters = static_cast<Counters *>(std::calloc(1, sizeof(Counters)));
    if (counters == nullptr)
        return common::null_with(ENOMEM);
    counters->counters.context = context;
    counters->lock.init();
    return &counters->counters;
}

int counters_destroy(ibv_counters *ibcounters)
{
    Counters &counters = to_counters(ibcounters);
    if (counters.rules.load() != 0)
        return EBUSY;
    counters.lock.destroy();
    std::free(&counters);
    return 0;
}

int counters_attach_to_flow(ibv_counters *ibcounters, ibv_counter_attach_attr *attr, ibv_flow *flow)
{
    Counters &counters = to_counters(ibcounters);
    uint32_t what;  // The program's may be none.
    static_assert(sizeof what == sizeof attr->counter_desc);
    std::memcpy(&what, &attr->counter_desc, sizeof what);
    // A rule names its counters when it is made.
    if (flow != nullptr || (what != IBV_COUNTER_PACKETS && what != IBV_COUNTER_BYTES))
        return EOPNOTSUPP;
    if (attr->comp_mask != 0 || attr->index >= kIndices)
        return EINVAL;
    common::Locked locked(counters.lock);
    if (counters.rules.load() != 0)
        return EBUSY;
    if (counters.num_points == kPoints)
        return ENOMEM;
    const auto description = static_cast<ibv_counter_description>(what);
    counters.points[counters.num_points++] = {attr->index, description, value_of(counters, description)};
    counters.num_values = std::max(counters.num_values, attr->index + 1);
    return 0;
}

int counters_read(ibv_counters *ibcounters, uint64_t *values, uint32_t count, uint32_t flags)
{
    Counters &counters = to_counters(ibcounters);
    if ((flags & ~uint32_t{IBV_READ_COUNTERS_ATTR_PREFER_CACHED}) != 0)
        return EINVAL;
    common::Locked locked(counters.lock);
    if (count > counters.num_values)
        return EINVAL;
    std::fill_n(values, count, 0);
    for (uint32_t i = 0; i < counters.num_points; ++i)
        if (const Counters::Point &point = counters.points[i]; point.index < count)
            values[point.index] += value_of(counters, point.what) - point.before;
    return 0;
}

void counters_bind(ibv_counters &counters)
{
    to_counters(&counters).rules.fetch_add(1);
}

void counters_unbind(ibv_counters &counters)
{
    to_counters(&counters).rules.fetch_sub(1);
}

void counters_count(ibv_counters &ibcounters, size_t bytes)
{
    Counters &counters = to_counters(&ibcounters);
    counters.packets.fetch_add(1, std::memory_order_relaxed);
    counters.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace urxe
