// SPDX-License-Identifier: BSD-2-Clause
// Loading provider plugins: files libNAME-rdmavN.so, N being VERBS_PROVIDER_ABI or a foreign number.
//
// A name stands for the plugin of our ABI, wherever that is, else for the one of the newest number. A name or path with its
// number stands for that plugin alone and wins over names without: IBV_DRIVERS=rxe-rdmav34, or the line
// `driver rxe-rdmav34` in a configuration file, gives rxe devices to the system's provider instead of ours.
#pragma once

#include <cstdint>

#include "base/result.hh"
#include "provider/config.hh"

namespace verbs::provider {

/// Where providers and their configuration are. Null: there is no such place.
struct Places {
    const char *environment = nullptr;       ///< a list of providers that come before all others
    const char *config_directories[4] = {};  ///< the names in the first come first
    const char *provider_directories[3] =
        {};  ///< the first that has the file wins; then the linker's search path
};

/// Loads the plugin `name`: a word or an absolute path, with or without "-rdmavN", a path also with ".so". False after one warning: there is
/// no such file, it cannot be loaded, or it registers no usable provider.
bool load_plugin(const char *name, const Places &places);

/// The providers that configuration names, loaded as they are needed and never unloaded. A plugin that cannot be loaded
/// costs one warning. Not for two threads at once, but for `load`.
class Loader {
public:
    /// Reads the configuration. ENOMEM.
    Status start(const Places &places);

    /// The first of those that the environment names, and that are to be loaded before all others, that was not tried
    /// yet; or null.
    NamedProvider *next_of_environment() const;

    /// The first provider not tried yet that is named like the one for the kernel driver `driver_id`
    /// (enum rdma_driver_id), or null.
    NamedProvider *next_for(uint32_t driver_id) const;

    /// The first provider not tried yet that may be for a device of the kernel, or null.
    NamedProvider *next() const;

    /// The first provider of userspace devices not tried yet that the user asked for, or null.
    NamedProvider *next_userspace() const;

    /// Which devices configuration gives a provider of userspace devices; null where it does not name the provider.
    const char *which_of(const char *name) const;

    /// The release for which the provider of the number and of this name or path was built, as configuration tells; 0 where it does not.
    int release_of(const char *name, int abi) const;

    /// Loads a provider. May be called by several threads at once, for the same provider too; must not be called under a
    /// lock, since the plugin's constructors, and those that another thread's dlopen is running, may call verbs.
    void load(const NamedProvider &provider) const { load_plugin(provider.name, places_); }

private:
    Places places_;
    ProviderNames names_;
    const NamedProvider *after_environment_ = nullptr;
};

/// The name of the provider for a kernel driver: 14 is "rxe". Null for drivers that have none.
const char *provider_for(uint32_t driver_id);

}  // namespace verbs::provider
