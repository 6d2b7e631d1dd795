// SPDX-License-Identifier: BSD-2-Clause
// Names of errno values, and numbers in text.
#include "names.hh"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace sim {

int errno_of(std::string_view text)
{
    for (int error = 1; error < 134; ++error)
        if (text == errno_name(error))
            return error;
    uint64_t number = 0;
    return parse_number(text, number) && number < 4096 ? static_cast<int>(number) : 0;
}

std::string_view errno_name(int error)
{
    const char *name = strerrorname_np(error);
    return name != nullptr ? name : "?";
}

bool parse_number(std::string_view text, uint64_t &number)
{
    const std::string copy(text);
    char *end = nullptr;
    errno = 0;
    const uint64_t value = strtoull(copy.c_str(), &end, 0);
    if (copy.empty() || *end != '\0' || errno != 0 || copy[0] == '-')
        return false;
    number = value;
    return true;
}

}  // namespace sim
