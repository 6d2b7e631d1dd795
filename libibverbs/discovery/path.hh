// SPDX-License-Identifier: BSD-2-Clause
// Paths in buffers of fixed size.
#pragma once

#include <span>

namespace verbs::discovery {

/// Formats into `out`; false (and an empty string) where it does not fit.
bool format_path(std::span<char> out, const char *format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace verbs::discovery
