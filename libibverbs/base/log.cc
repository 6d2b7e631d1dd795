// SPDX-License-Identifier: BSD-2-Clause
// The verbs log: reads its environment once, writes each line with one call of write.
#include "base/log.hh"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/result.hh"
#include "base/unique_fd.hh"

namespace verbs {
namespace {

/// What the environment asks for, read once.
pthread_once_t once = PTHREAD_ONCE_INIT;
unsigned wanted_level;
char file[PATH_MAX];

/// VERBS_LOG_FILE as an absolute path, so that it stays one file when the program changes its directory.
bool read_path(char (&path)[PATH_MAX])
{
    const char *name = secure_getenv("VERBS_LOG_FILE");
    if (name == nullptr || name[0] == '\0')
        return false;
    size_t used = 0;
    if (name[0] != '/') {
        if (getcwd(path, sizeof path - 1) == nullptr)
            return false;
        used = strlen(path);
        path[used++] = '/';
    }
    const size_t length = strlen(name) + 1;
    if (used + length > sizeof path)
        return false;
    memcpy(path + used, name, length);
    return true;
}

void read_environment()
{
    ErrnoGuard keep;
    const char *text = secure_getenv("VERBS_LOG_LEVEL");
    if (text == nullptr)
        return;
    wanted_level = static_cast<unsigned>(
        std::clamp(std::strtol(text, nullptr, 10), 0L, static_cast<long>(LogLevel::kDebug)));
    if (char path[PATH_MAX]; wanted_level > 0 && read_path(path))
        memcpy(file, path, strlen(path) + 1);
}

}  // namespace

bool log_enabled(LogLevel level)
{
    pthread_once(&once, read_environment);
    return static_cast<unsigned>(level) <= wanted_level;
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
    // Opened for each line: a descriptor that is kept is the program's own file once it has closed all that it did not
    // open.
    UniqueFd log_file(file[0] != '\0' ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644)
                                      : -1);
    ssize_t ignored = write(log_file ? log_file.get() : STDERR_FILENO, line, length);
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
