// SPDX-License-Identifier: BSD-2-Clause
// How a function becomes a symbol of the library.
#pragma once

/// Marks the definition of a function that the library exports. Its version stands in libibverbs.map.in; the
/// compiler checks its signature against the header that declares it. Built without exceptions, so none
/// escape.
#define VERBS_EXPORT extern "C" __attribute__((visibility("default")))

/// Exports `function`, defined in the same file, to providers of foreign numbers too, from that number on: all whose
/// releases may have had the function with today's parameters. Non-default: new programs cannot link to it. Today's
/// version is given here too: of two names of one place the linker drops the one without a version. The static library
/// has no versions, so none of this (VERBS_STATIC).
#define VERBS_EXPORT_SINCE_34(function)                      \
    VERBS_EXPORT_AS(function, function, IBVERBS_PRIVATE_34); \
    VERBS_EXPORT_SINCE_57(function)
#define VERBS_EXPORT_SINCE_57(function)                      \
    VERBS_EXPORT_AS(function, function, IBVERBS_PRIVATE_57); \
    VERBS_EXPORT_SINCE_59(function)
#define VERBS_EXPORT_SINCE_59(function)                      \
    VERBS_EXPORT_AS(function, function, IBVERBS_PRIVATE_59); \
    VERBS_EXPORT_SINCE_64(function)
#ifdef VERBS_STATIC
#define VERBS_EXPORT_SINCE_64(function) static_assert(true)
#else
#define VERBS_EXPORT_SINCE_64(function)                      \
    VERBS_EXPORT_AS(function, function, IBVERBS_PRIVATE_64); \
    asm(".symver " #function "," #function "@@@IBVERBS_PRIVATE_65")
#endif

/// Exports `function`, defined in the same file with VERBS_EXPORT, as `name` under a non-default version:
/// what older releases called `name` and whose parameters differed from today's.
#if defined(VERBS_STATIC)
#define VERBS_EXPORT_AS(function, name, version) static_assert(true)
#elif defined(__clang__)
#define VERBS_EXPORT_AS(function, name, version)                                  \
    VERBS_EXPORT                                                                  \
    __attribute__((alias(#function))) decltype(function) function##_at_##version; \
    asm(".symver " #function "_at_" #version "," #name "@" #version)
#else
#define VERBS_EXPORT_AS(function, name, version) \
    VERBS_EXPORT                                 \
    __attribute__((alias(#function), symver(#name "@" #version))) decltype(function) function##_at_##version
#endif

/// Stands before the definition of name_1_0 and exports it as `name` of IBVERBS_1.0, non-default; so for
/// IBVERBS_1.1.
#define VERBS_EXPORT_1_0(name) VERBS_EXPORT_OLD(name, name##_1_0, "IBVERBS_1.0")
#define VERBS_EXPORT_1_1(name) VERBS_EXPORT_OLD(name, name##_1_1, "IBVERBS_1.1")
#if defined(__clang__)
#define VERBS_EXPORT_OLD(name, function, version)    \
    asm(".symver " #function "," #name "@" version); \
    VERBS_EXPORT
#else
#define VERBS_EXPORT_OLD(name, function, version) VERBS_EXPORT __attribute__((symver(#name "@" version)))
#endif
