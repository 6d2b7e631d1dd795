// SPDX-License-Identifier: BSD-2-Clause
// Paths of the program that lead into the simulated tree.
#include "interpose/paths.hh"

#include <string.h>

#include <string_view>

#include "interpose/real.hh"
#include "session.hh"

namespace sim {

const char *translate(const char *path, std::string &storage)
{
    // Most calls are about other files, and a process that only makes such needs no session.
    static constexpr std::string_view kPlaces[] = {"/sys/class/infiniband", "/dev/infiniband",
                                                   "/dev/char/231:", "/sys/devices/",
                                                   "/sys/bus/pci/devices/"};
    if (path != nullptr && path[0] == '/')
        for (const std::string_view place : kPlaces)
            if (strncmp(path, place.data(), place.size()) == 0)
                return Session::get().translate(path, storage);
    return path;
}

std::string node_at(int directory, const char *name)
{
    if (name == nullptr || strncmp(name, "uverbs", 6) != 0 || directory == AT_FDCWD)
        return {};
    char link[64];
    char target[512] = {};
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    if (REAL(readlink)(link, target, sizeof target - 1) < 0)
        return {};
    return std::string(target) + "/" + name;
}

bool is_empty_path(const char *path)
{
    return path != nullptr && *path == '\0';
}

}  // namespace sim
