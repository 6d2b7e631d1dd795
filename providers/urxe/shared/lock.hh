// SPDX-License-Identifier: BSD-2-Clause
// A lock in shared memory that outlives the death of its holder.
#pragma once

#include <atomic>
#include <cstdint>

namespace urxe::shared {

/// The calling thread's id, from the kernel once.
uint32_t thread_id();

/// What a process does after a fork: thread_id() asks the kernel again.
void forget_thread_id();

/// Whether the thread is gone.
bool is_dead(uint32_t thread);

/// One step of waiting, the `round`th (from 0): first a pause, then the rest of a time slice.
void wait_a_little(uint32_t round);

/// Held for some tens of instructions, or across one system call that copies memory. Zeroed memory is a free lock.
///
/// A holder that dies leaves it to the next who waits, so whatever it guards must be whole after each single store.
class Lock {
public:
    void lock()
    {
        uint32_t free = 0;
        if (!holder_.compare_exchange_strong(free, thread_id(), std::memory_order_acquire)) [[unlikely]]
            wait();
    }
    bool try_lock()
    {
        uint32_t free = 0;
        return holder_.compare_exchange_strong(free, thread_id(), std::memory_order_acquire);
    }
    void unlock() { holder_.store(0, std::memory_order_release); }

    /// The thread that has it; 0: none.
    uint32_t holder() const { return holder_.load(std::memory_order_relaxed); }

private:
    void wait();

    std::atomic<uint32_t> holder_;
};

}  // namespace urxe::shared
