// SPDX-License-Identifier: BSD-2-Clause
// Statistics of the times at which work completed.
#pragma once

#include <climits>
#include <cstdint>
#include <cstdio>

namespace tools {

// How far apart the completions of receives were, in ticks of the device's clock.
class TimestampStatistics {
public:
    // mask: the timestamps that the device can give.
    explicit TimestampStatistics(uint64_t mask) : mask_(mask) {}

    void add(uint64_t timestamp)
    {
        if (has_last_) {
            // The clock starts over at the end of its range.
            uint64_t delta = timestamp >= last_ ? timestamp - last_ : mask_ - last_ + timestamp + 1;
            if (delta > max_)
                max_ = delta;
            if (delta < min_)
                min_ = delta;
            sum_ += delta;
            ++count_;
        }
        last_ = timestamp;
        has_last_ = true;
    }

    void report() const
    {
        if (!count_)
            return;
        printf("Max receive completion clock cycles = %lu\n", static_cast<unsigned long>(max_));
        printf("Min receive completion clock cycles = %lu\n", static_cast<unsigned long>(min_));
        printf("Average receive completion clock cycles = %f\n",
               static_cast<double>(sum_) / static_cast<double>(count_));
    }

private:
    uint64_t mask_;
    uint64_t last_ = 0;
    uint64_t max_ = 0;
    uint64_t min_ = UINT_MAX;
    uint64_t sum_ = 0;
    uint64_t count_ = 0;
    bool has_last_ = false;
};

}  // namespace tools
