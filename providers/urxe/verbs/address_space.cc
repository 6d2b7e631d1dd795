// SPDX-License-Identifier: BSD-2-Clause
// What of the process's address space may be read and written.
#include "verbs/address_space.hh"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

namespace urxe {
namespace {

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
constexpr int MADV_POPULATE_WRITE = 23;
#endif

/// Whether the list of mappings says so.
bool is_mapped(uintptr_t address, uintptr_t end, bool writable)
{
    std::FILE *maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr)
        return true;  // Nobody can tell.
    char line[512];
    while (address < end && std::fgets(line, sizeof line, maps) != nullptr) {
        uintptr_t from = 0, to = 0;
        char rights[5] = {};
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, rights) != 3 || to <= address)
            continue;
        if (from > address || rights[writable ? 1 : 0] != (writable ? 'w' : 'r'))
            break;
        address = to;
    }
    std::fclose(maps);
    return address >= end;
}

}  // namespace

int bring_in(uintptr_t address, size_t length, bool writable)
{
    if (length == 0)
        return 0;
    if (address + length < address)
        return EFAULT;
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t first = address & ~(page - 1);
    const int error = errno;
    int result = 0;
    // EINVAL is what kernels before 5.14 say, and newer ones of memory that allows no such access or is a device's.
    if (madvise(reinterpret_cast<void *>(first), address + length - first,
                writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0 &&
        (errno != EINVAL || !is_mapped(address, address + length, writable)))
        result = errno == ENOMEM || errno == EINVAL ? EFAULT : errno;
    errno = error;
    return result;
}

}  // namespace urxe
