// SPDX-License-Identifier: BSD-2-Clause
// Warnings about the set-up of providers, which an administrator can put right.
#pragma once

namespace verbs::provider {

enum class Audience {
    kEverybody,  ///< something is broken: stderr, where the verbs log does not have it
    kWhoAsked    ///< only where IBV_SHOW_WARNINGS is set, or the verbs log has warnings
};

/// Writes one line. Any thread; keeps errno.
void warn(Audience audience, const char *format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace verbs::provider
