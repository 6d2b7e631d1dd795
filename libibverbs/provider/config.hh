// SPDX-License-Identifier: BSD-2-Clause
// Which providers there are: what the environment and configuration files name.
#pragma once

#include <string_view>
#include <utility>

#include "base/memory.hh"
#include "base/result.hh"

namespace verbs::provider {

/// A provider that configuration names: "rxe", or the absolute path of a plugin.
struct NamedProvider {
    NamedProvider *next;
    bool tried;         ///< it was loaded, or could not be
    bool is_userspace;  ///< its devices exist without the kernel
    int release;        ///< for which it was built, where configuration tells; else 0
    const char *which;  ///< of those it has where the user does not say; behind the name, may be empty
    char name[1];       ///< goes on behind the struct, zero-terminated
};

/// Named providers in the order in which they were added, each once.
class ProviderNames {
public:
    ProviderNames() = default;
    ProviderNames(ProviderNames &&other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
    ProviderNames &operator=(ProviderNames &&other) noexcept
    {
        std::swap(first_, other.first_);
        return *this;
    }
    ~ProviderNames();

    NamedProvider *first() const { return first_; }

    /// ENOMEM. A name that is there already stays where it is, and as it is, but for a release that was not told.
    Status add(std::string_view name, int release = 0);
    /// The same for a provider of userspace devices.
    Status add_userspace(std::string_view name, std::string_view which);

private:
    Status add(std::string_view name, bool is_userspace, std::string_view which, int release);

    NamedProvider *first_ = nullptr;
};

/// Adds the providers of a configuration file. Each line is `driver NAME`, a comment (#) or blank; what follows NAME is
/// ignored, but for `driver NAME userspace [WHICH]`: a provider whose devices exist without the kernel, and which of them
/// it is to have where the user does not say; and `driver NAME release N`: of which release a foreign plugin is. NAME is a word without slashes or an absolute path. Other lines are ignored with one warning per file, which
/// calls it `file`. ENOMEM.
Status parse_config(std::string_view text, const char *file, ProviderNames &names);

/// Adds the providers of all regular files in `directory`, whatever they are called, in alphabetical order. A directory
/// that does not exist is empty; what cannot be read is left out with a warning. ENOMEM.
Status read_config_directory(const char *directory, ProviderNames &names);

/// Adds the providers of a list as environment variables have it: names with colons or semicolons in between. ENOMEM.
Status parse_provider_list(std::string_view list, ProviderNames &names);

}  // namespace verbs::provider
