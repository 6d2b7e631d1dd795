// SPDX-License-Identifier: BSD-2-Clause
// How a function becomes a symbol of the library.
#pragma once

/// Marks the definition of a function that the library exports. Its version stands in libibverbs.map.in; the
/// compiler checks its signature against the header that declares it. Built without exceptions, so none escape.
#define VERBS_EXPORT extern "C" __attribute__((visibility("default")))

/// Exports `function`, defined in the same file, once more under a non-default version that older releases used:
/// VERBS_EXPORT_ALSO(ibv_query_gid_type, IBVERBS_PRIVATE_34). Non-default: new programs cannot link to it.
#if defined(__clang__)
#define VERBS_EXPORT_ALSO(function, version)                                      \
    VERBS_EXPORT                                                                  \
    __attribute__((alias(#function))) decltype(function) function##_at_##version; \
    asm(".symver " #function "_at_" #version "," #function "@" #version)
#else
#define VERBS_EXPORT_ALSO(function, version) \
    VERBS_EXPORT                             \
    __attribute__((alias(#function),         \
                   symver(#function "@" #version))) decltype(function) function##_at_##version
#endif
