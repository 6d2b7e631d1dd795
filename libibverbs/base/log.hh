// SPDX-License-Identifier: BSD-2-Clause
// The verbs log: silent unless VERBS_LOG_LEVEL asks for more, written to stderr or to VERBS_LOG_FILE.
#pragma once

#include <cstdarg>

namespace verbs {

enum class LogLevel { kNone, kError, kWarning, kInfo, kDebug };

/// Whether a message of `level` would be written: ask before work that only the log needs.
bool log_enabled(LogLevel level);

/// Writes one line, `libibverbs: ` in front and a newline behind. Any thread; keeps errno; one write per line.
void log(LogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_args(LogLevel level, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

}  // namespace verbs
