// SPDX-License-Identifier: BSD-2-Clause
// Waiting for a lock in shared memory, and taking it from a thread that has died.
#include "shared/lock.hh"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace urxe::shared {
namespace {

// Where the loader puts it at once: every lock reads it.
[[gnu::tls_model("initial-exec")]] __thread uint32_t this_thread;

/// Rounds of waiting between two looks at whether the holder lives.
constexpr uint32_t kRoundsPerLook = 1U << 10;

}  // namespace

uint32_t thread_id()
{
    if (this_thread == 0) [[unlikely]]
        this_thread = static_cast<uint32_t>(gettid());
    return this_thread;
}

void forget_thread_id()
{
    this_thread = 0;
}

bool is_dead(uint32_t thread)
{
    // A process that nobody has waited for still counts as there for kill().
    const int error = errno;
    char path[32], text[512];
    std::snprintf(path, sizeof path, "/proc/%u/stat", thread);
    bool dead = false;
    if (const int file = open(path, O_RDONLY | O_CLOEXEC); file >= 0) {
        const ssize_t length = read(file, text, sizeof text - 1);
        close(file);
        text[std::max<ssize_t>(length, 0)] = '\0';
        const char *name_end = std::strrchr(text, ')');
        dead = length < 0 || (name_end != nullptr && (name_end[2] == 'Z' || name_end[2] == 'X'));
    } else {
        dead = kill(static_cast<pid_t>(thread), 0) != 0 && errno == ESRCH;
    }
    errno = error;
    return dead;
}

void wait_a_little(uint32_t round)
{
    if (round >= 128) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void Lock::wait()
{
    for (uint32_t round = 0;; ++round) {
        uint32_t holder = 0;
        if (holder_.compare_exchange_weak(holder, thread_id(), std::memory_order_acquire))
            return;
        wait_a_little(round);
        if (round % kRoundsPerLook == kRoundsPerLook - 1 && holder != 0 && is_dead(holder) &&
            holder_.compare_exchange_strong(holder, thread_id(), std::memory_order_acquire))
            return;
    }
}

}  // namespace urxe::shared
