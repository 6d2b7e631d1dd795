// SPDX-License-Identifier: BSD-2-Clause
// Loading provider plugins.
#include "provider/loader.hh"

#include <dlfcn.h>
#include <infiniband/driver.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "provider/registry.hh"
#include "provider/userspace.hh"
#include "provider/warning.hh"

namespace verbs::provider {
namespace {

#define VERBS_TEXT_OF(number) #number
#define VERBS_TEXT(number) VERBS_TEXT_OF(number)

/// A provider ABI that plugins may have, and how their files end.
struct Abi {
    int number;
    const char *ending;
};

/// Ours comes first, then from new to old.
constexpr Abi kAbis[] = {{VERBS_PROVIDER_ABI, "-rdmav" VERBS_TEXT(VERBS_PROVIDER_ABI)},
                         {64, "-rdmav64"},
                         {59, "-rdmav59"},
                         {57, "-rdmav57"},
                         {34, "-rdmav34"}};

/// What a configured name says of the plugin's file.
struct PluginName {
    std::string_view name;   ///< "rxe" of "rxe", "rxe-rdmav34", "/opt/librxe" and "/opt/librxe-rdmav65.so"
    const Abi *abi;          ///< the one of kAbis that it asks for, or null
    bool is_path, is_whole;  ///< a path; with ".so"
};

PluginName parse(std::string_view text)
{
    PluginName plugin = {.name = text, .abi = nullptr, .is_path = text.starts_with('/'), .is_whole = false};
    if (plugin.is_path) {
        plugin.name.remove_prefix(text.rfind('/') + 1);
        if (plugin.name.starts_with("lib"))
            plugin.name.remove_prefix(3);
        plugin.is_whole = plugin.name.ends_with(".so");
        if (plugin.is_whole)
            plugin.name.remove_suffix(3);
    }
    for (const Abi &abi : kAbis)
        if (plugin.name.ends_with(abi.ending)) {
            plugin.abi = &abi;
            plugin.name.remove_suffix(strlen(abi.ending));
            break;
        }
    return plugin;
}

const Registration *last_registered()
{
    const Registration *last = registered_drivers();
    while (last != nullptr && last->next != nullptr)
        last = last->next;
    return last;
}

enum class Outcome { kLoaded, kBroken, kAbsent };

/// Loads the file, or what the linker finds under this name; kAbsent where dlerror tells why not. The plugin stays for
/// good: its devices may.
Outcome load_file(const char *path)
{
    // What registers after this is seen below; what did so before belongs to a plugin that is there already.
    const Registration *last = last_registered();
    const unsigned refused = refused_registrations();
    // Such a plugin is linked to the program or was loaded by another name or thread, or its constructor is what asks.
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr)
        return Outcome::kLoaded;
    void *handle = dlopen(path, RTLD_NOW);
    if (handle == nullptr)
        return Outcome::kAbsent;
    if (last_registered() != last)
        return Outcome::kLoaded;
    // What was refused has had its line.
    if (refused_registrations() == refused)
        warn(Audience::kEverybody,
             "provider %s is ignored: it registers nothing with verbs_register_driver_%d, nor with that of "
             "64, 59, 57 or "
             "34",
             path, VERBS_PROVIDER_ABI);
    dlclose(handle);
    return Outcome::kBroken;
}

/// Loads the file if it exists. What it is comes first: opening a FIFO would never end.
Outcome load_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return Outcome::kAbsent;
        warn(Audience::kEverybody, "provider %s cannot be loaded: %s", path, strerrordesc_np(errno));
        return Outcome::kBroken;
    }
    if (!S_ISREG(info.st_mode)) {
        warn(Audience::kEverybody, "provider %s cannot be loaded: it is not a regular file", path);
        return Outcome::kBroken;
    }
    Outcome outcome = load_file(path);
    if (outcome != Outcome::kAbsent)
        return outcome;
    warn(Audience::kEverybody, "provider %s cannot be loaded: %s", path, dlerror());
    return Outcome::kBroken;
}

/// Loads the plugin that the linker finds, of the best ABI.
Outcome load_from_search_path(std::string_view name, std::span<const Abi> abis)
{
    char path[PATH_MAX];
    char reasons[512] = "";
    size_t length = 0;
    for (const Abi &abi : abis) {
        snprintf(path, sizeof path, "lib%.*s%s.so", static_cast<int>(name.size()), name.data(), abi.ending);
        Outcome outcome = load_file(path);
        if (outcome != Outcome::kAbsent)
            return outcome;
        int added =
            snprintf(reasons + length, sizeof reasons - length, "%s%s", length != 0 ? "; " : "", dlerror());
        length = std::min(length + static_cast<size_t>(added), sizeof reasons - 1);
    }
    warn(Audience::kWhoAsked, "provider %.*s cannot be loaded: %s", static_cast<int>(name.size()),
         name.data(), reasons);
    return Outcome::kAbsent;
}

/// Whether the user wants devices of the provider, which may be named by a path.
bool asks_for(const NamedProvider &provider)
{
    char name[64];
    const std::string_view plain = parse(provider.name).name;
    if (plain.size() >= sizeof name)
        return false;
    name[plain.copy(name, sizeof name - 1)] = '\0';
    return asked_of(name, provider.which) != nullptr;
}

}  // namespace

bool load_plugin(const char *name, const Places &places)
{
    const PluginName plugin = parse(name);
    const std::span<const Abi> abis = plugin.abi != nullptr ? std::span<const Abi>(plugin.abi, 1) : kAbis;
    char path[PATH_MAX];
    if (plugin.is_path) {
        const bool is_complete = plugin.is_whole || plugin.abi != nullptr;
        for (const Abi &abi : abis) {
            snprintf(path, sizeof path, "%s%s%s", name, is_complete ? "" : abi.ending,
                     plugin.is_whole ? "" : ".so");
            Outcome outcome = load_path(path);
            if (outcome != Outcome::kAbsent)
                return outcome == Outcome::kLoaded;
            if (is_complete)
                break;
        }
        warn(Audience::kEverybody, "provider %s cannot be loaded: there is no such file", path);
        return false;
    }
    for (const Abi &abi : abis) {
        for (const char *directory : places.provider_directories) {
            if (directory == nullptr)
                continue;
            snprintf(path, sizeof path, "%s/lib%.*s%s.so", directory, static_cast<int>(plugin.name.size()),
                     plugin.name.data(), abi.ending);
            Outcome outcome = load_path(path);
            if (outcome != Outcome::kAbsent)
                return outcome == Outcome::kLoaded;
        }
    }
    return load_from_search_path(plugin.name, abis) == Outcome::kLoaded;
}

Status Loader::start(const Places &places)
{
    places_ = places;
    if (places.environment != nullptr)
        if (Status status = parse_provider_list(places.environment, names_); !status)
            return status;
    const NamedProvider *last_of_environment = names_.first();
    while (last_of_environment != nullptr && last_of_environment->next != nullptr)
        last_of_environment = last_of_environment->next;
    for (const char *directory : places.config_directories)
        if (directory != nullptr)
            if (Status status = read_config_directory(directory, names_); !status)
                return status;
    after_environment_ = last_of_environment != nullptr ? last_of_environment->next : names_.first();
    return {};
}

NamedProvider *Loader::next_of_environment() const
{
    for (NamedProvider *provider = names_.first(); provider != after_environment_; provider = provider->next)
        if (!provider->tried)
            return provider;
    return nullptr;
}

NamedProvider *Loader::next_for(uint32_t driver_id) const
{
    const char *wanted = provider_for(driver_id);
    if (wanted == nullptr)
        return nullptr;
    // A name that says its ABI is a choice between plugins of one name: those come first.
    NamedProvider *any = nullptr;
    for (NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next) {
        if (provider->tried)
            continue;
        const PluginName plugin = parse(provider->name);
        if (plugin.name != wanted)
            continue;
        if (plugin.abi != nullptr)
            return provider;
        if (any == nullptr)
            any = provider;
    }
    return any;
}

NamedProvider *Loader::next() const
{
    NamedProvider *any = nullptr;
    for (NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next) {
        if (provider->tried || provider->is_userspace)
            continue;
        if (parse(provider->name).abi != nullptr)
            return provider;
        if (any == nullptr)
            any = provider;
    }
    return any;
}

NamedProvider *Loader::next_userspace() const
{
    for (NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next) {
        if (!provider->tried && provider->is_userspace && asks_for(*provider))
            return provider;
    }
    return nullptr;
}

int Loader::release_of(const char *name, int abi) const
{
    const std::string_view wanted = parse(name).name;
    for (const NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next) {
        const PluginName plugin = parse(provider->name);
        if (provider->release != 0 && plugin.name == wanted &&
            (plugin.abi == nullptr || plugin.abi->number == abi))
            return provider->release;
    }
    return 0;
}

const char *Loader::which_of(const char *name) const
{
    for (const NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next) {
        if (provider->is_userspace && parse(provider->name).name == name)
            return provider->which;
    }
    return nullptr;
}

}  // namespace verbs::provider
