// SPDX-License-Identifier: BSD-2-Clause
// The lock of a queue: held for a few stores, never across a system call of the data path.
#pragma once

#include <pthread.h>

namespace rxe {

/// Lives in zeroed memory, so init() takes the place of a constructor.
class SpinLock {
public:
    void init() { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
    void lock() { pthread_spin_lock(&lock_); }
    void unlock() { pthread_spin_unlock(&lock_); }

private:
    pthread_spinlock_t lock_;
};

/// Holds a lock to the end of a scope.
class Locked {
public:
    explicit Locked(SpinLock &lock) : lock_(lock) { lock_.lock(); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;
    ~Locked() { lock_.unlock(); }

private:
    SpinLock &lock_;
};

}  // namespace rxe
