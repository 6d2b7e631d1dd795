// SPDX-License-Identifier: BSD-2-Clause
// Asking about files: stat and its relatives, access, readlink, realpath.
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "interpose/descriptors.hh"
#include "interpose/export.hh"
#include "interpose/paths.hh"
#include "interpose/real.hh"
#include "session.hh"

namespace sim {
namespace {

/// A node of the tree is a plain file, and looks like a character device.
template <class Stat>
void make_device(Stat &node, int minor)
{
    node.st_mode = S_IFCHR | (node.st_mode & 07777);
    node.st_rdev = makedev(kMajor, static_cast<unsigned>(minor));
}

template <class Stat>
int finish_path(int result, const std::string &path, Stat *node)
{
    if (result == 0)
        if (const int minor = Session::get().minor_of_node(path); minor >= 0)
            make_device(*node, minor);
    return result;
}

template <class Stat>
int finish_fd(int result, int fd, Stat *node)
{
    if (result == 0)
        if (File *file = Descriptors::get().device(fd)) {
            make_device(*node, static_cast<int>(kFirstMinor + file->device().uverbs));
            node->st_mode = S_IFCHR | 0666;
            node->st_size = 0;
        }
    return result;
}

}  // namespace
}  // namespace sim

using sim::Session;

#define DEFINE_STAT(name, type)                                               \
    SIM_EXPORT int name(const char *path, type *node)                         \
    {                                                                         \
        SIM_FAIL_ON(kStat, -1);                                               \
        std::string storage;                                                  \
        const char *translated = sim::translate(path, storage);               \
        return sim::finish_path(REAL(name)(translated, node), storage, node); \
    }
#define DEFINE_FSTAT(name, type)                               \
    SIM_EXPORT int name(int fd, type *node)                    \
    {                                                          \
        SIM_FAIL_ON(kStat, -1);                                \
        return sim::finish_fd(REAL(name)(fd, node), fd, node); \
    }
#define DEFINE_FSTATAT(name, type)                                                                          \
    SIM_EXPORT int name(int directory, const char *path, type *node, int flags)                             \
    {                                                                                                       \
        SIM_FAIL_ON(kStat, -1);                                                                             \
        std::string storage;                                                                                \
        const char *translated = sim::translate(path, storage);                                             \
        if (storage.empty())                                                                                \
            storage = sim::node_at(directory, path);                                                        \
        const int result = sim::finish_path(REAL(name)(directory, translated, node, flags), storage, node); \
        return sim::is_empty_path(path) ? sim::finish_fd(result, directory, node) : result;                 \
    }

DEFINE_STAT(stat, struct stat)
DEFINE_STAT(lstat, struct stat)
DEFINE_STAT(stat64, struct stat64)
DEFINE_STAT(lstat64, struct stat64)
DEFINE_FSTAT(fstat, struct stat)
DEFINE_FSTAT(fstat64, struct stat64)
DEFINE_FSTATAT(fstatat, struct stat)
DEFINE_FSTATAT(fstatat64, struct stat64)

// Programs built against glibc before 2.33 call these.
#define DEFINE_XSTAT(name, to)                                              \
    SIM_EXPORT int name(int, const char *path, struct stat *node)           \
    {                                                                       \
        SIM_FAIL_ON(kStat, -1);                                             \
        std::string storage;                                                \
        const char *translated = sim::translate(path, storage);             \
        return sim::finish_path(REAL(to)(translated, node), storage, node); \
    }

DEFINE_XSTAT(__xstat, stat)
DEFINE_XSTAT(__xstat64, stat)
DEFINE_XSTAT(__lxstat, lstat)
DEFINE_XSTAT(__lxstat64, lstat)

SIM_EXPORT int __fxstat(int, int fd, struct stat *node)
{
    SIM_FAIL_ON(kStat, -1);
    return sim::finish_fd(REAL(fstat)(fd, node), fd, node);
}

SIM_EXPORT int __fxstat64(int, int fd, struct stat *node)
{
    SIM_FAIL_ON(kStat, -1);
    return sim::finish_fd(REAL(fstat)(fd, node), fd, node);
}

SIM_EXPORT int statx(int directory, const char *path, int flags, unsigned mask, struct statx *node)
{
    SIM_FAIL_ON(kStat, -1);
    std::string storage;
    const char *translated = sim::translate(path, storage);
    const int result = REAL(statx)(directory, translated, flags, mask, node);
    int minor = result == 0 ? Session::get().minor_of_node(storage) : -1;
    if (result == 0 && sim::is_empty_path(path))
        if (sim::File *file = sim::Descriptors::get().device(directory))
            minor = static_cast<int>(sim::kFirstMinor + file->device().uverbs);
    if (minor >= 0) {
        node->stx_mode = static_cast<uint16_t>(S_IFCHR | (node->stx_mode & 07777));
        node->stx_rdev_major = sim::kMajor;
        node->stx_rdev_minor = static_cast<unsigned>(minor);
    }
    return result;
}

SIM_EXPORT int access(const char *path, int mode)
{
    std::string storage;
    return REAL(access)(sim::translate(path, storage), mode);
}

SIM_EXPORT int faccessat(int directory, const char *path, int mode, int flags)
{
    std::string storage;
    return REAL(faccessat)(directory, sim::translate(path, storage), mode, flags);
}

SIM_EXPORT ssize_t readlink(const char *path, char *buffer, size_t size)
{
    std::string storage;
    return REAL(readlink)(sim::translate(path, storage), buffer, size);
}

SIM_EXPORT ssize_t readlinkat(int directory, const char *path, char *buffer, size_t size)
{
    std::string storage;
    return REAL(readlinkat)(directory, sim::translate(path, storage), buffer, size);
}

SIM_EXPORT char *realpath(const char *path, char *resolved)
{
    std::string storage;
    const char *translated = sim::translate(path, storage);
    if (translated == path)
        return REAL(realpath)(path, resolved);
    char *found = REAL(realpath)(translated, nullptr);
    if (found == nullptr)
        return nullptr;
    const std::string shown = Session::get().untranslate(found);
    free(found);
    if (resolved == nullptr)
        return strdup(shown.c_str());
    if (shown.size() >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return nullptr;
    }
    return strcpy(resolved, shown.c_str());
}
