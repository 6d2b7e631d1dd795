// SPDX-License-Identifier: BSD-2-Clause
// The stock library beside ours in one process, where the system has it.
#pragma once

#include <dlfcn.h>

namespace verbs::test {

/// Debian's release 44.0 of libibverbs in a namespace of its own; null where it is not installed.
inline void *stock_library()
{
    static void *library = dlmopen(LM_ID_NEWLM, STOCK_LIBIBVERBS, RTLD_NOW);
    return library;
}

/// The stock library's function of the same type as `ours`, or null.
template <class Function>
Function *stock(Function *, const char *name, const char *version)
{
    return stock_library() == nullptr ? nullptr
                                      : reinterpret_cast<Function *>(dlvsym(stock_library(), name, version));
}

}  // namespace verbs::test
