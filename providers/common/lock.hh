// SPDX-License-Identifier: BSD-2-Clause
// The locks of queues.
#pragma once

#include <pthread.h>

namespace common {

/// Held for a few stores, never across a system call. Lives in zeroed memory, so init() takes the place of a
/// constructor. It does nothing where one thread at a time uses the queue, as programs can promise.
class SpinLock {
public:
    void init(bool single_threaded = false)
    {
        held_ = false;
        unneeded_ = single_threaded;
    }
    bool is_needed() const { return !unneeded_; }
    /// Whether it is held now.
    bool try_lock()
    {
        if (unneeded_) [[unlikely]]
            return true;
        return !__atomic_exchange_n(&held_, true, __ATOMIC_ACQUIRE);
    }
    void lock()
    {
        if (!try_lock()) [[unlikely]]
            wait();
    }
    void unlock()
    {
        if (!unneeded_)
            __atomic_store_n(&held_, false, __ATOMIC_RELEASE);
    }

private:
    /// Not pthread's lock, since taking a free one is most of what some verbs do: that is a single instruction here.
    [[gnu::noinline]] void wait()
    {
        do {
            while (__atomic_load_n(&held_, __ATOMIC_RELAXED)) {
#if defined(__x86_64__) || defined(__i386__)
                __builtin_ia32_pause();
#elif defined(__aarch64__)
                __asm__ volatile("yield");
#endif
            }
        } while (__atomic_exchange_n(&held_, true, __ATOMIC_ACQUIRE));
    }

    bool held_;
    bool unneeded_;
};

/// May be held across a system call: who waits sleeps. Lives in zeroed memory, between init() and destroy().
class Mutex {
public:
    void init() { pthread_mutex_init(&mutex_, nullptr); }
    void destroy() { pthread_mutex_destroy(&mutex_); }
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_;
};

/// Holds a lock to the end of a scope.
template <class Lock>
class Locked {
public:
    explicit Locked(Lock &lock) : lock_(lock) { lock_.lock(); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;
    ~Locked() { lock_.unlock(); }

private:
    Lock &lock_;
};

}  // namespace common
