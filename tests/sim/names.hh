// SPDX-License-Identifier: BSD-2-Clause
// Members of kernel structures by name, with where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sim {

struct Member {
    std::string_view name;
    uint16_t offset;
    uint16_t size;
};

#define SIM_MEMBER(type, member)                                                       \
    sim::Member                                                                        \
    {                                                                                  \
#member, offsetof(type, member), sizeof(static_cast <type *>(nullptr)->member) \
    }

/// An errno by its name (ENOMEM) or number; 0: it is none.
int errno_of(std::string_view text);
std::string_view errno_name(int error);

/// A decimal or 0x… number; false: it is none.
bool parse_number(std::string_view text, uint64_t &number);

}  // namespace sim
