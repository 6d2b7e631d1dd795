// SPDX-License-Identifier: BSD-2-Clause
// Paths of the program that lead into the simulated tree. Null is taken wherever a program may pass it by
// mistake.
#pragma once

#include <string>

namespace sim {

/// The path to use instead, in `storage`, or `path` itself where it is not simulated.
const char *translate(const char *path, std::string &storage);

/// The path of what looks like a uverbs node in an open directory; empty where it does not.
std::string node_at(int directory, const char *name);

bool is_empty_path(const char *path);

}  // namespace sim
