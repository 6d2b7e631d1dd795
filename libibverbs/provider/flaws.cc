// SPDX-License-Identifier: BSD-2-Clause
// Whether the library can use what a provider registers.
#include "provider/flaws.hh"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace verbs::provider {
namespace {

/// How many bytes from `address` on are in the same segment of a loaded object; 0 where there is none.
size_t bytes_behind(const void *address)
{
    struct Search {
        uintptr_t address;
        size_t bytes;
    } search = {reinterpret_cast<uintptr_t>(address), 0};
    dl_iterate_phdr(
        [](dl_phdr_info *object, size_t, void *context) {
            auto &wanted = *static_cast<Search *>(context);
            for (const ElfW(Phdr) *segment = object->dlpi_phdr;
                 segment < object->dlpi_phdr + object->dlpi_phnum; ++segment) {
                const uintptr_t offset = wanted.address - (object->dlpi_addr + segment->p_vaddr);
                if (segment->p_type != PT_LOAD || (segment->p_flags & PF_R) == 0 ||
                    offset >= segment->p_memsz)
                    continue;
                wanted.bytes = segment->p_memsz - offset;
                return 1;
            }
            return 0;
        },
        &search);
    return search.bytes;
}

bool is_text(const char *text)
{
    const size_t bytes = bytes_behind(text);
    return bytes != 0 && strnlen(text, bytes) < bytes;
}

const char *flaw_of_table(const verbs_match_ent *table)
{
    const size_t rows = bytes_behind(table) / sizeof *table;
    for (size_t i = 0; i < rows; ++i) {
        if (table[i].kind == VERBS_MATCH_SENTINEL)
            return nullptr;
        if (table[i].kind == VERBS_MATCH_MODALIAS && !is_text(table[i].u.modalias))
            return "its match table has a pattern that is no text";
    }
    return rows == 0 ? "its match table is in no loaded object" : "its match table has no end";
}

}  // namespace

const char *flaw_of(const verbs_device_ops *ops)
{
    if (bytes_behind(ops) < sizeof *ops)
        return "its verbs_device_ops are in no loaded object";
    if (ops->name == nullptr || !is_text(ops->name) || ops->name[0] == '\0')
        return "it has no name";
    if (ops->alloc_device == nullptr || ops->alloc_context == nullptr)
        return "it lacks alloc_device or alloc_context";
    if (ops->match_device == nullptr && ops->match_table != nullptr)
        return flaw_of_table(ops->match_table);
    return nullptr;
}

const char *file_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "the program";
}

}  // namespace verbs::provider
