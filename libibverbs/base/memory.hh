// SPDX-License-Identifier: BSD-2-Clause
// Memory of C programs held by C++ code: calloc'd objects that free themselves.
#pragma once

#include <cstdlib>
#include <memory>
#include <type_traits>

namespace verbs {

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};

/// Owns memory from malloc and its family.
template <class T>
using Allocated = std::unique_ptr<T, Free>;

/// A zeroed `T`, or null when there is no memory. `T` is an object that C code could have made.
template <class T>
Allocated<T> allocate()
{
    static_assert(std::is_trivially_destructible_v<T>);
    return Allocated<T>(static_cast<T *>(std::calloc(1, sizeof(T))));
}

}  // namespace verbs
