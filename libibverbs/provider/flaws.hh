// SPDX-License-Identifier: BSD-2-Clause
// Whether the library can use what a provider registers.
#pragma once

#include <infiniband/driver.h>

namespace verbs::provider {

/// What is wrong with the ops of a provider, or null. What they point to must lie in loaded objects, and the match table end
/// there.
const char *flaw_of(const verbs_device_ops *ops);

/// The file of the object that an address is in.
const char *file_of(const void *address);

}  // namespace verbs::provider
