// SPDX-License-Identifier: BSD-2-Clause
// open and its relatives: paths of the simulated tree, and the devices' nodes.
#include <stdarg.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "interpose/descriptors.hh"
#include "interpose/export.hh"
#include "interpose/paths.hh"
#include "interpose/real.hh"
#include "session.hh"

namespace sim {
namespace {

using Kind = Descriptors::Kind;

/// Opens the device that a node of the tree stands for.
int open_node(int minor, int flags)
{
    Session &session = Session::get();
    const Device *device = session.device_of_minor(static_cast<uint32_t>(minor));
    if (device == nullptr || !session.is_present(*device)) {
        errno = ENXIO;
        return -1;
    }
    File *file = nullptr;
    const int fd = File::open(*device, flags, file);
    if (fd < 0) {
        errno = -fd;
        return -1;
    }
    Descriptors::get().set_device(fd, file);
    return fd;
}

/// In sysfs the type and the interface of an empty GID entry are files that cannot be read.
int open_empty_attribute(const std::string &path, int flags)
{
    for (const char *part : {"/gid_attrs/types/", "/gid_attrs/ndevs/"}) {
        const size_t place = path.find(part);
        if (place == path.npos)
            continue;
        const std::string gid =
            Session::get().untranslate(path.substr(0, place)) + "/gids/" + path.substr(place + strlen(part));
        std::string storage;
        const int fd = REAL(open)(Session::get().translate(gid.c_str(), storage), flags);
        if (fd >= 0)
            Descriptors::get().set(fd, Kind::kEmptyAttribute);
        return fd;
    }
    errno = ENOENT;
    return -1;
}

int open_translated(const std::string &path, int flags, mode_t mode)
{
    const int fd = REAL(open)(path.c_str(), flags, mode);
    if (fd < 0)
        return errno == ENOENT ? open_empty_attribute(path, flags) : fd;
    const int minor = Session::get().minor_of_node(path);
    if (minor < 0 || (flags & O_PATH) != 0)
        return fd;
    REAL(close)(fd);
    return open_node(minor, flags);
}

int open_any(int directory, const char *path, int flags, mode_t mode)
{
    std::string storage;
    const char *translated = translate(path, storage);
    if (translated == path)
        storage = node_at(directory, path);
    if (translated != path || (!storage.empty() && Session::get().minor_of_node(storage) >= 0))
        return open_translated(storage, flags & ~O_CREAT, mode);
    return REAL(openat)(directory, path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace
}  // namespace sim

#define DEFINE_OPEN(name)                                   \
    SIM_EXPORT int name(const char *path, int flags, ...)   \
    {                                                       \
        SIM_FAIL_ON(kOpen, -1);                             \
        va_list arguments;                                  \
        va_start(arguments, flags);                         \
        const mode_t mode = sim::mode_of(flags, arguments); \
        va_end(arguments);                                  \
        return sim::open_any(AT_FDCWD, path, flags, mode);  \
    }
#define DEFINE_OPENAT(name)                                              \
    SIM_EXPORT int name(int directory, const char *path, int flags, ...) \
    {                                                                    \
        SIM_FAIL_ON(kOpen, -1);                                          \
        va_list arguments;                                               \
        va_start(arguments, flags);                                      \
        const mode_t mode = sim::mode_of(flags, arguments);              \
        va_end(arguments);                                               \
        return sim::open_any(directory, path, flags, mode);              \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

SIM_EXPORT int __open_2(const char *path, int flags)
{
    SIM_FAIL_ON(kOpen, -1);
    return sim::open_any(AT_FDCWD, path, flags, 0);
}

SIM_EXPORT int __open64_2(const char *path, int flags)
{
    SIM_FAIL_ON(kOpen, -1);
    return sim::open_any(AT_FDCWD, path, flags, 0);
}

SIM_EXPORT int __openat_2(int directory, const char *path, int flags)
{
    SIM_FAIL_ON(kOpen, -1);
    return sim::open_any(directory, path, flags, 0);
}

SIM_EXPORT int __openat64_2(int directory, const char *path, int flags)
{
    SIM_FAIL_ON(kOpen, -1);
    return sim::open_any(directory, path, flags, 0);
}

#define DEFINE_FOPEN(name)                                    \
    SIM_EXPORT FILE *name(const char *path, const char *mode) \
    {                                                         \
        SIM_FAIL_ON(kFopen, nullptr);                         \
        std::string storage;                                  \
        path = sim::translate(path, storage);                 \
        return REAL(name)(path, mode);                        \
    }

DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

SIM_EXPORT DIR *opendir(const char *path)
{
    SIM_FAIL_ON(kOpendir, nullptr);
    std::string storage;
    path = sim::translate(path, storage);
    return REAL(opendir)(path);
}

#define DEFINE_SCANDIR(name, entry)                                                    \
    SIM_EXPORT int name(const char *path, entry ***list, int (*filter)(const entry *), \
                        int (*compare)(const entry **, const entry **))                \
    {                                                                                  \
        SIM_FAIL_ON(kOpendir, -1);                                                     \
        std::string storage;                                                           \
        path = sim::translate(path, storage);                                          \
        return REAL(name)(path, list, filter, compare);                                \
    }

DEFINE_SCANDIR(scandir, dirent)
DEFINE_SCANDIR(scandir64, dirent64)

SIM_EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    std::string storage;
    path = sim::translate(path, storage);
    return REAL(inotify_add_watch)(fd, path, mask);
}
