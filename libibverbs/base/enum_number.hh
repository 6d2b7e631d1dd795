// SPDX-License-Identifier: BSD-2-Clause
// Enumerations that programs fill in, C programs with any number.
#pragma once

#include <cstring>
#include <type_traits>

namespace verbs {

/// The number in `value`, which may be none that its type can hold: reading such a one as the enumeration is undefined.
template <class Enum>
unsigned enum_number(const Enum &value)
{
    static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(unsigned));
    unsigned number = 0;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

/// Copies a value that may be such a one.
template <class Enum>
void copy_enum(Enum &to, const Enum &from)
{
    std::memcpy(&to, &from, sizeof to);
}

}  // namespace verbs
