// SPDX-License-Identifier: BSD-2-Clause
// Reading single attributes of sysfs, and where sysfs is.
#include "discovery/sysfs_file.hh"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/memory.hh"
#include "base/unique_fd.hh"
#include "discovery/path.hh"

namespace verbs::discovery {
namespace {

std::atomic<const char *> known_root{nullptr};

constexpr char kDefaultRoot[] = "/sys";

}  // namespace

const char *sysfs_root()
{
    const char *known = known_root.load(std::memory_order_acquire);
    if (known != nullptr)
        return known;

    const char *wanted = secure_getenv("SYSFS_PATH");
    if (wanted == nullptr)
        wanted = kDefaultRoot;
    Allocated<char> copy(strdup(wanted));
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
    if (name != nullptr && !join_path(path, {dir, "/", name}))
        return Status(ENAMETOOLONG);
    UniqueFd file(open(name != nullptr ? path : dir, O_RDONLY | O_CLOEXEC));
    if (!file)
        return Status::from_errno();

    // Sysfs gives all of an attribute that fits with the first read.
    ssize_t got;
    do {
        got = read(file.get(), out.data(), out.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return Status::from_errno();
    auto length = static_cast<size_t>(got);
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
