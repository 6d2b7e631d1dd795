// SPDX-License-Identifier: BSD-2-Clause
// Where the running library looks for providers.
#include "provider/places.hh"

#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace verbs::provider {
namespace {

char own_config[PATH_MAX];
char moved_config[PATH_MAX];
char own_providers[PATH_MAX];

/// The directory of the file that this code was loaded from.
bool find_own_directory(char (&directory)[PATH_MAX])
{
    Dl_info info;
    if (dladdr(own_config, &info) == 0 || realpath(info.dli_fname, directory) == nullptr)
        return false;
    char *slash = strrchr(directory, '/');
    if (slash == nullptr)
        return false;
    *slash = '\0';
    return true;
}

const char *beside(const char *directory, const char *name, char (&path)[PATH_MAX])
{
    return snprintf(path, sizeof path, "%s/%s", directory, name) < static_cast<int>(sizeof path) ? path
                                                                                                 : nullptr;
}

/// The configuration that was installed together with the library in `directory`, where that is not the one
/// that every process reads.
const char *moved_configuration(const char *directory)
{
    char path[PATH_MAX];
    if (beside(directory, VERBS_CONFIG_FROM_LIBRARY, path) == nullptr ||
        realpath(path, moved_config) == nullptr)
        return nullptr;
    bool is_common =
        strcmp(moved_config, VERBS_CONFIG_DIR) == 0 || strcmp(moved_config, VERBS_SYSTEM_CONFIG_DIR) == 0;
    return is_common ? nullptr : moved_config;
}

constexpr const char *unless_same(std::string_view directory, std::string_view other)
{
    return directory != other ? directory.data() : nullptr;
}

}  // namespace

Places process_places()
{
    Places places = {
        .environment = secure_getenv("RDMAV_DRIVERS"),
        .config_directories = {nullptr, nullptr, VERBS_CONFIG_DIR,
                               unless_same(VERBS_SYSTEM_CONFIG_DIR, VERBS_CONFIG_DIR)},
        .provider_directories = {nullptr, VERBS_PROVIDER_DIR,
                                 unless_same(VERBS_SYSTEM_PROVIDER_DIR, VERBS_PROVIDER_DIR)},
    };
    if (places.environment == nullptr)
        places.environment = secure_getenv("IBV_DRIVERS");
    if (char directory[PATH_MAX]; find_own_directory(directory)) {
        places.config_directories[0] = beside(directory, "libibverbs.d", own_config);
        places.config_directories[1] = moved_configuration(directory);
        places.provider_directories[0] = beside(directory, "libibverbs", own_providers);
    }
    return places;
}

}  // namespace verbs::provider
