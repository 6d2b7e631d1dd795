// SPDX-License-Identifier: BSD-2-Clause
// Reading single attributes of sysfs, and where sysfs is.
#include "discovery/sysfs_file.hh"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/memory.hh"
#include "base/unique_fd.hh"
#include "discovery/path.hh"

namespace verbs::discovery {
namespace {

std::atomic<const char *> known_root{nullptr};

constexpr char kDefaultRoot[] = "/sys";

bool format_args(std::span<char> out, const char *format, va_list args)
{
    int length = vsnprintf(out.data(), out.size(), format, args);
    return length >= 0 && static_cast<size_t>(length) < out.size();
}

}  // namespace

bool format_path(std::span<char> out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool fits = format_args(out, format, args);
    va_end(args);
    if (!fits && !out.empty())
        out[0] = '\0';
    return fits;
}

const char *sysfs_root()
{
    const char *known = known_root.load(std::memory_order_acquire);
    if (known != nullptr)
        return known;

    const char *wanted = secure_getenv("SYSFS_PATH");
    Allocated<char> copy(wanted != nullptr ? strdup(wanted) : nullptr);
    if (!copy)
        return kDefaultRoot;
    for (size_t length = strlen(copy.get()); length > 0 && copy.get()[length - 1] == '/';)
        copy.get()[--length] = '\0';
    if (known_root.compare_exchange_strong(known, copy.get(), std::memory_order_acq_rel))
        return copy.release();
    return known;
}

Result<size_t> read_sysfs_file(const char *dir, const char *name, std::span<char> out)
{
    char path[PATH_MAX];
    if (!format_path(path, "%s%s%s", dir, name != nullptr ? "/" : "", name != nullptr ? name : ""))
        return Status(ENAMETOOLONG);
    UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
    if (!file)
        return Status::from_errno();

    size_t length = 0;
    while (length < out.size()) {
        ssize_t got = read(file.get(), out.data() + length, out.size() - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return Status::from_errno();
        if (got == 0)
            break;
        length += static_cast<size_t>(got);
    }
    if (length > 0 && out[length - 1] == '\n')
        --length;
    else if (length == out.size())
        return Status(EOVERFLOW);
    out[length] = '\0';
    return length;
}

Result<uint64_t> read_sysfs_number(const char *dir, const char *name, int base)
{
    char text[32];
    Result<size_t> length = read_sysfs_file(dir, name, text);
    if (!length)
        return length.status();
    ErrnoGuard keep;
    errno = 0;
    char *end = text;
    uint64_t number = strtoull(text, &end, base);
    if (end == text || errno != 0)
        return Status(EINVAL);
    return number;
}

}  // namespace verbs::discovery
