// SPDX-License-Identifier: BSD-2-Clause
// Warnings about the set-up of providers: to the verbs log if it takes them, else to stderr.
#include "provider/warning.hh"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/log.hh"
#include "base/result.hh"

namespace verbs::provider {
namespace {

void warn_args(Audience audience, const char *format, va_list args)
{
    if (log_enabled(LogLevel::kWarning)) {
        log_args(LogLevel::kWarning, format, args);
    } else if (audience == Audience::kEverybody || secure_getenv("IBV_SHOW_WARNINGS") != nullptr) {
        char line[1024];
        vsnprintf(line, sizeof line, format, args);
        fprintf(stderr, "libibverbs: Warning: %s\n", line);
    }
}

}  // namespace

void warn(Audience audience, const char *format, ...)
{
    ErrnoGuard keep;
    va_list args;
    va_start(args, format);
    warn_args(audience, format, args);
    va_end(args);
}

}  // namespace verbs::provider
