// SPDX-License-Identifier: BSD-2-Clause
// Paths in buffers of fixed size.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>

namespace verbs::discovery {

/// Puts the parts together; false (and an empty string) where they do not fit. Paths are made so often that printf would be
/// most of what some verbs cost.
inline bool join_path(std::span<char> out, std::initializer_list<std::string_view> parts)
{
    size_t length = 0;
    for (std::string_view part : parts) {
        if (part.size() >= out.size() - length) {
            out[0] = '\0';
            return false;
        }
        std::memcpy(out.data() + length, part.data(), part.size());
        length += part.size();
    }
    out[length] = '\0';
    return true;
}

/// A number as a part of a path.
class Decimal {
public:
    explicit Decimal(uint32_t number) : size_(std::to_chars(digits_, std::end(digits_), number).ptr - digits_)
    {
    }
    operator std::string_view() const { return {digits_, static_cast<size_t>(size_)}; }

private:
    char digits_[10];
    std::ptrdiff_t size_;
};

}  // namespace verbs::discovery
