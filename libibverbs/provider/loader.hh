// SPDX-License-Identifier: BSD-2-Clause
// Loading provider plugins: files libNAME-rdmavN.so, N being VERBS_PROVIDER_ABI or 34.
//
// A name stands for the plugin of our ABI, wherever that is, else for the one of ABI 34. A name or path with its
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
    const char *config_directories[3] = {};  ///< the names in the first come first
    const char *provider_directories[3] =
        {};  ///< the first that has the file wins; then the linker's search path
};

/// The providers that configuration names, loaded as they are needed and never unloaded. A plugin that cannot be loaded
/// costs one warning. Not for two threads at once.
class Loader {
public:
    /// Reads the configuration, and loads what the environment names. ENOMEM.
    Status start(const Places &places);

    /// Loads what is named like the provider for the kernel driver `driver_id` (enum rdma_driver_id).
    void load_for(uint32_t driver_id);

    /// Loads everything that was not tried yet.
    void load_all();

private:
    template <class Wanted>
    void load_those(Wanted is_wanted);
    void load(NamedProvider &provider);

    Places places_;
    ProviderNames names_;
};

/// The name of the provider for a kernel driver: 14 is "rxe". Null for drivers that have none.
const char *provider_for(uint32_t driver_id);

/// Loads the plugin `name`: a word or an absolute path, with or without "-rdmavN", a path also with ".so". False after one warning: there is
/// no such file, it cannot be loaded, or it registers no provider.
bool load_plugin(const char *name, const Places &places);

}  // namespace verbs::provider
