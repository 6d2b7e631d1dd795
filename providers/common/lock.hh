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
        unneeded_ = single_threaded;
        pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE);
    }
    bool is_needed() const { return !unneeded_; }
    void lock()
    {
        if (!unneeded_)
            pthread_spin_lock(&lock_);
    }
    void unlock()
    {
        if (!unneeded_)
            pthread_spin_unlock(&lock_);
    }

private:
    pthread_spinlock_t lock_;
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
