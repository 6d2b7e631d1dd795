// SPDX-License-Identifier: BSD-2-Clause
// How the tools write values for people: names of enum values, and labelled fields in columns.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>

namespace tools {

// A value, or one bit of a mask, and what it is called.
struct Name {
    uint64_t value;
    const char *text;
};

// The number in an enum that came from a device, which may be newer than the enum: in C++ such a value must not be
// looked at as the enum that it is declared to be.
template <typename Enum>
int number_of(const Enum &value)
{
    int number;
    static_assert(sizeof(number) == sizeof(value));
    memcpy(&number, &value, sizeof(number));
    return number;
}

// The name of a value, or the fallback for one that has none.
inline const char *name_of(std::span<const Name> names, uint64_t value, const char *fallback)
{
    for (const Name &name : names)
        if (name.value == value)
            return name.text;
    return fallback;
}

// Where the lines of a section start and where their values do, in tab stops.
struct Columns {
    int label;
    int value;
};

inline void print_tabs(int count)
{
    for (int i = 0; i < count; ++i)
        putchar('\t');
}

// Writes "LABEL:", tabs up to the column of values (at least one), the value, and ends the line.
[[gnu::format(printf, 3, 4)]] inline void print_field(Columns columns, const char *label, const char *format,
                                                      ...)
{
    print_tabs(columns.label);
    printf("%s:", label);
    int stop = columns.label + (static_cast<int>(strlen(label)) + 1) / 8;
    print_tabs(stop < columns.value ? columns.value - stop : 1);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

// Writes a field whose value is a number with a name: "LABEL: NAME (NUMBER)".
inline void print_named(Columns columns, const char *label, std::span<const Name> names, int number,
                        const char *fallback)
{
    print_field(columns, label, "%s (%d)", name_of(names, static_cast<uint64_t>(number), fallback), number);
}

// The bits of a mask that have no name.
inline uint64_t unnamed_bits(std::span<const Name> names, uint64_t mask)
{
    for (const Name &name : names)
        mask &= ~name.value;
    return mask;
}

// Writes the name of each set bit on a line of its own.
inline void print_bits(std::span<const Name> names, uint64_t mask)
{
    for (const Name &name : names)
        if (mask & name.value)
            printf("\t\t\t\t\t%s\n", name.text);
}

// Writes a line for the set bits that have no name, if there are any.
inline void print_unknown_bits(uint64_t bits)
{
    if (bits)
        printf("\t\t\t\t\tUnknown flags: 0x%lX\n", bits);
}

}  // namespace tools
