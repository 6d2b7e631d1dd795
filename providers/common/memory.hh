// SPDX-License-Identifier: BSD-2-Clause
// Memory of the objects that a provider hands to C programs: calloc'd, and freed if they do not get that far.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace common {

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};

/// Owns an object until it is handed out with release().
template <class T>
using Allocated = std::unique_ptr<T, Free>;

/// A zeroed `T`, or null with errno ENOMEM.
template <class T>
Allocated<T> allocate()
{
    static_assert(std::is_trivially_destructible_v<T> && std::is_standard_layout_v<T>);
    return Allocated<T>(static_cast<T *>(std::calloc(1, sizeof(T))));
}

/// Sets errno and gives the null pointer: the last line of an op that promises "NULL and errno".
inline std::nullptr_t null_with(int error)
{
    errno = error;
    return nullptr;
}

}  // namespace common
