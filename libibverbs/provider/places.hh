// SPDX-License-Identifier: BSD-2-Clause
// Where the running library looks for providers.
#pragma once

#include "provider/loader.hh"

namespace verbs::provider {

/// The directories libibverbs.d and libibverbs beside the file that this code was loaded from, so that a build tree works
/// where it stands; then those that the build was configured with; then those of the system's own providers. The environment is RDMAV_DRIVERS, else IBV_DRIVERS;
/// setuid programs have none. The strings live as long as the process. Not for two threads at once.
Places process_places();

}  // namespace verbs::provider
