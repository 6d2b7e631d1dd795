// SPDX-License-Identifier: BSD-2-Clause
// How the tools find the device that their command line names.
#pragma once

#include <infiniband/verbs.h>

namespace tools {

// Opens the device of that name, or the first where it is null. On failure writes the reason to stderr
// (no_device where there is none at all) and returns null.
ibv_context *open_device(const char *name, const char *no_device = "No IB devices found");

}  // namespace tools
