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

/// Whether the thread is executing, or could be; not: it sleeps, is stopped or is gone.
bool is_running(uint32_t thread);

/// Who holds something for longer than this without making headway is stopped, or never had it.
constexpr uint64_t kPatienceNs = 1'000'000'000;

/// One step of waiting, the `round`th (from 0): first a pause, then the rest of a time slice.
void wait_a_little(uint32_t round);

/// Held for some tens of instructions, or across one system call that copies memory. Zeroed memory is a free lock.
///
/// A holder that dies leaves it to the next who waits, so whatever it guards must be whole after each single store. Whoever
/// maps a heap can write to a lock in it: lock_or_seize() is for those.
class Lock {
public:
    void lock()
    {
        uint32_t free = 0;
        if (!holder_.compare_exchange_strong(free, thread_id(), std::memory_order_acquire)) [[unlikely]]
            wait(false);
    }
    /// As lock(), but takes it away from a holder that keeps it for kPatienceNs. Then the answer is false: what it guards can
    /// not be relied on.
    bool lock_or_seize()
    {
        uint32_t free = 0;
        if (holder_.compare_exchange_strong(free, thread_id(), std::memory_order_acquire)) [[likely]]
            return true;
        return wait(true);
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
    bool wait(bool seizes);

    std::atomic<uint32_t> holder_;
};

/// Holds a lock that lies in a heap to the end of a scope.
class SharedLocked {
public:
    explicit SharedLocked(Lock &lock) : lock_(lock), is_whole_(lock.lock_or_seize()) {}
    SharedLocked(const SharedLocked &) = delete;
    SharedLocked &operator=(const SharedLocked &) = delete;
    ~SharedLocked() { lock_.unlock(); }
    /// False: somebody else had it and may go on one day.
    bool is_whole() const { return is_whole_; }

private:
    Lock &lock_;
    const bool is_whole_;
};

}  // namespace urxe::shared
