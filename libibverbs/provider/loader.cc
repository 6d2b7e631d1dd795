// SPDX-License-Identifier: BSD-2-Clause
// Loading provider plugins.
#include "provider/loader.hh"

#include <dlfcn.h>
#include <infiniband/driver.h>
#include <link.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "provider/registry.hh"
#include "provider/warning.hh"

namespace verbs::provider {
namespace {

#define VERBS_TEXT_OF(number) #number
#define VERBS_TEXT(number) VERBS_TEXT_OF(number)
constexpr char kEnding[] = "-rdmav" VERBS_TEXT(VERBS_PROVIDER_ABI) ".so";

bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t ending_length = strlen(ending);
    return length >= ending_length && strcmp(text + length - ending_length, ending) == 0;
}

/// Whether a registered provider lies in the object that `handle` stands for.
bool has_registered(void *handle)
{
    link_map *plugin = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &plugin) != 0)
        return false;
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next) {
        Dl_info info;
        link_map *owner = nullptr;
        if (dladdr1(driver->ops, &info, reinterpret_cast<void **>(&owner), RTLD_DL_LINKMAP) != 0 &&
            owner == plugin)
            return true;
    }
    return false;
}

const Registration *last_registered()
{
    const Registration *last = registered_drivers();
    while (last != nullptr && last->next != nullptr)
        last = last->next;
    return last;
}

/// Loads the file, or what the linker finds under this name. The plugin stays for good: its devices may.
bool load_file(const char *path, Audience audience)
{
    const Registration *last = last_registered();
    void *handle = dlopen(path, RTLD_NOW);
    if (handle == nullptr) {
        warn(audience, "provider %s cannot be loaded: %s", path, dlerror());
        return false;
    }
    // A plugin that the program links to has registered long ago; one that forwards to another object has just now.
    if (last_registered() != last || has_registered(handle))
        return true;
    warn(audience, "provider %s is ignored: it registers nothing with verbs_register_driver_%d", path,
         VERBS_PROVIDER_ABI);
    dlclose(handle);
    return false;
}

enum class Outcome { kLoaded, kBroken, kAbsent };

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
    return load_file(path, Audience::kEverybody) ? Outcome::kLoaded : Outcome::kBroken;
}

/// "rxe" of "rxe", "/opt/librxe" and "/opt/librxe-rdmav65.so".
bool is_named(const NamedProvider &provider, const char *wanted)
{
    const char *slash = strrchr(provider.name, '/');
    const char *name = slash != nullptr ? slash + 1 : provider.name;
    if (slash != nullptr && strncmp(name, "lib", 3) == 0)
        name += 3;
    size_t length = strlen(name);
    if (ends_with(name, kEnding))
        length -= strlen(kEnding);
    return length == strlen(wanted) && strncmp(name, wanted, length) == 0;
}

}  // namespace

const char *provider_for(uint32_t driver_id)
{
    switch (driver_id) {
        case RDMA_DRIVER_MLX5:
            return "mlx5";
        case RDMA_DRIVER_MLX4:
            return "mlx4";
        case RDMA_DRIVER_CXGB4:
            return "cxgb4";
        case RDMA_DRIVER_MTHCA:
            return "mthca";
        case RDMA_DRIVER_BNXT_RE:
            return "bnxt_re";
        case RDMA_DRIVER_OCRDMA:
            return "ocrdma";
        case RDMA_DRIVER_IRDMA:
            return "irdma";
        case RDMA_DRIVER_VMW_PVRDMA:
            return "vmw_pvrdma";
        case RDMA_DRIVER_QEDR:
            return "qedr";
        case RDMA_DRIVER_HNS:
            return "hns";
        case RDMA_DRIVER_RXE:
            return "rxe";
        case RDMA_DRIVER_HFI1:
            return "hfi1verbs";
        case RDMA_DRIVER_QIB:
            return "ipathverbs";
        case RDMA_DRIVER_EFA:
            return "efa";
        case RDMA_DRIVER_SIW:
            return "siw";
        case RDMA_DRIVER_ERDMA:
            return "erdma";
        case RDMA_DRIVER_MANA:
            return "mana";
        default:
            return nullptr;
    }
}

bool load_plugin(const char *name, const Places &places)
{
    char path[PATH_MAX];
    if (name[0] == '/') {
        snprintf(path, sizeof path, "%s%s", name, ends_with(name, ".so") ? "" : kEnding);
        Outcome outcome = load_path(path);
        if (outcome == Outcome::kAbsent)
            warn(Audience::kEverybody, "provider %s cannot be loaded: there is no such file", path);
        return outcome == Outcome::kLoaded;
    }
    for (const char *directory : places.provider_directories) {
        if (directory == nullptr)
            continue;
        snprintf(path, sizeof path, "%s/lib%s%s", directory, name, kEnding);
        Outcome outcome = load_path(path);
        if (outcome != Outcome::kAbsent)
            return outcome == Outcome::kLoaded;
    }
    snprintf(path, sizeof path, "lib%s%s", name, kEnding);
    return load_file(path, Audience::kWhoAsked);
}

void Loader::load(NamedProvider &provider)
{
    if (!std::exchange(provider.tried, true))
        load_plugin(provider.name, places_);
}

Status Loader::start(const Places &places)
{
    places_ = places;
    if (places.environment != nullptr)
        if (Status status = parse_provider_list(places.environment, names_); !status)
            return status;
    for (NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next)
        load(*provider);
    for (const char *directory : places.config_directories)
        if (directory != nullptr)
            if (Status status = read_config_directory(directory, names_); !status)
                return status;
    return {};
}

void Loader::load_for(uint32_t driver_id)
{
    const char *wanted = provider_for(driver_id);
    if (wanted == nullptr)
        return;
    for (NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next)
        if (is_named(*provider, wanted))
            load(*provider);
}

void Loader::load_all()
{
    for (NamedProvider *provider = names_.first(); provider != nullptr; provider = provider->next)
        load(*provider);
}

}  // namespace verbs::provider
