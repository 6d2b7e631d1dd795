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
#include <ctime>

namespace urxe::shared {
namespace {

// Where the loader puts it at once: every lock reads it.
[[gnu::tls_model("initial-exec")]] __thread uint32_t this_thread;

/// Between two looks at whether the holder lives.
constexpr uint64_t kLookNs = 1'000'000;
/// No thread has an id as high (PID_MAX_LIMIT).
constexpr uint32_t kThreadIds = 1U << 22;

uint64_t clock_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// The letter of the thread's state (proc(5)); 0: there is no such thread.
char state_of(uint32_t thread)
{
    if (thread == 0 || thread > kThreadIds)
        return '\0';
    const int error = errno;
    char path[32], text[512];
    std::snprintf(path, sizeof path, "/proc/%u/stat", thread);
    char state = '\0';
    if (const int file = open(path, O_RDONLY | O_CLOEXEC); file >= 0) {
        const ssize_t length = read(file, text, sizeof text - 1);
        close(file);
        text[std::max<ssize_t>(length, 0)] = '\0';
        if (const char *name_end = std::strrchr(text, ')'); name_end != nullptr)
            state = name_end[2];
    } else if (kill(static_cast<pid_t>(thread), 0) == 0 || errno != ESRCH) {
        state = 'S';  // It is there, but hidden.
    }
    errno = error;
    return state;
}

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
    // A process that nobody has waited for is still there for kill().
    const char state = state_of(thread);
    return state == '\0' || state == 'Z' || state == 'X';
}

bool is_running(uint32_t thread)
{
    const char state = state_of(thread);
    return state == 'R' || state == 'D';
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

bool Lock::wait(bool seizes)
{
    uint32_t seen = 0;
    uint64_t seen_at = 0, looked_at = 0;
    for (uint32_t round = 0;; ++round) {
        uint32_t holder = 0;
        if (holder_.compare_exchange_weak(holder, thread_id(), std::memory_order_acquire))
            return true;
        wait_a_little(round);
        if (round < 256 || holder == 0)
            continue;
        const uint64_t now = clock_ns();
        if (holder != seen) {
            seen = holder;
            seen_at = looked_at = now;
        }
        if (now - looked_at < kLookNs)
            continue;
        looked_at = now;
        const bool is_gone = is_dead(holder);
        if ((is_gone || (seizes && now - seen_at > kPatienceNs)) &&
            holder_.compare_exchange_strong(holder, thread_id(), std::memory_order_acquire))
            return is_gone;
    }
}

}  // namespace urxe::shared
