// SPDX-License-Identifier: BSD-2-Clause
// Of which release a foreign provider is.
//
// Its number decides where all releases of the number have one layout. Where they have several, these decide, the first
// that says something:
//   1. which functions it imports, as far as they leave one layout: some came with a release;
//   2. the name of its own file, links followed: libmlx5.so.1.24.44.0 is of release 44;
//   3. the line `driver NAME release N` in a configuration file;
//   4. its neighbours: plugins of the same number in its directory that are links to such names, if all tell the same;
//   5. in the system's own directory of plugins, the release that the library was built for (VERBENA_SYSTEM_RELEASE).
// A provider of which none says anything, or one that contradicts what it imports, is refused with one warning: its
// objects would be read at wrong offsets. What was decided, and by what, is in the verbs log (level 3).
#pragma once

#include <string_view>

#include "provider/layouts/layout.hh"
#include "provider/loader.hh"

namespace verbs::provider {

/// What there is to tell the release of a provider.
struct Evidence {
    const char *name;              ///< verbs_device_ops.name
    int abi;                       ///< the number with which it registered
    const char *file = nullptr;    ///< it is in, as it was loaded; null where that is unknown
    const char *newest = nullptr;  ///< of the functions that it imports: the one that came last
    int oldest_release = 0;        ///< that has all functions that it imports; 0: nothing is known
    int configured = 0;            ///< the release that configuration tells; 0: none
};

/// The layout, or null after one warning.
const Layout *recognise(const Evidence &evidence);

/// The release in the name of a library's file, or 0: 44 of "libmlx5.so.1.24.44.0".
int release_in_name(std::string_view file);

/// Gives every provider that has registered its layout, or refuses it, once. Not for two threads at once.
void recognise_registered(const Loader &loader);

}  // namespace verbs::provider
