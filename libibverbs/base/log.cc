// SPDX-License-Identifier: BSD-2-Clause
// The verbs log: reads its environment once, writes each line with one system call.
#include "base/log.hh"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/result.hh"

namespace verbs {
namespace {

/// Where and how much to log, packed so that it is read and published in one piece: level + 1 above, fd below.
/// Zero: the environment was not read yet. Two threads that race to read it find the same.
std::atomic<uint64_t> settings{0};

constexpr uint64_t pack(unsigned level, int fd)
{
    return uint64_t{level + 1} << 32 | static_cast<uint32_t>(fd);
}

uint64_t read_environment()
{
    const char *level_text = secure_getenv("VERBS_LOG_LEVEL");
    if (level_text == nullptr)
        return pack(0, STDERR_FILENO);
    long level = std::clamp(std::strtol(level_text, nullptr, 10), 0L, static_cast<long>(LogLevel::kDebug));

    int fd = STDERR_FILENO;
    if (const char *path = secure_getenv("VERBS_LOG_FILE"); level > 0 && path != nullptr) {
        int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            fd = file;
    }
    return pack(static_cast<unsigned>(level), fd);
}

uint64_t current_settings()
{
    uint64_t now = settings.load(std::memory_order_acquire);
    if (now != 0)
        return now;
    ErrnoGuard keep;
    uint64_t fresh = read_environment();
    if (settings.compare_exchange_strong(now, fresh, std::memory_order_acq_rel))
        return fresh;
    if (int fd = static_cast<int>(static_cast<uint32_t>(fresh)); fd != STDERR_FILENO)
        close(fd);
    return now;
}

}  // namespace

bool log_enabled(LogLevel level)
{
    return static_cast<unsigned>(level) + 1 <= current_settings() >> 32;
}

void log_args(LogLevel level, const char *format, va_list args)
{
    if (!log_enabled(level))
        return;
    ErrnoGuard keep;
    constexpr char kPrefix[] = "libibverbs: ";
    char line[1024];
    int used = snprintf(line, sizeof line, "%s", kPrefix);
    int text = vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, args);
    if (text < 0)
        return;
    size_t length = std::min(static_cast<size_t>(used + text), sizeof line - 2);
    if (line[length - 1] != '\n')
        line[length++] = '\n';
    ssize_t ignored = write(static_cast<int>(static_cast<uint32_t>(current_settings())), line, length);
    static_cast<void>(ignored);  // there is no one left to tell
}

void log(LogLevel level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_args(level, format, args);
    va_end(args);
}

}  // namespace verbs
