// SPDX-License-Identifier: BSD-2-Clause
// What of the process's address space may be read and written.
#include "verbs/address_space.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
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

int map_file(int file, uint64_t offset, size_t length, bool writable, Mapping &mapping)
{
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t lead = offset % page;
    if (length == 0 || length > PTRDIFF_MAX - lead || offset > PTRDIFF_MAX - length)
        return EINVAL;
    struct stat stat;
    if (fstat(file, &stat) != 0)
        return errno;
    // Of other files the driver knows how much there is.
    if (S_ISREG(stat.st_mode) && offset + length > static_cast<uint64_t>(stat.st_size))
        return EINVAL;
    mapping.size = length + lead;
    mapping.start = mmap(nullptr, mapping.size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, file,
                         static_cast<off_t>(offset - lead));
    if (mapping.start == MAP_FAILED)
        return errno;
    mapping.address = reinterpret_cast<uintptr_t>(mapping.start) + lead;
    const int seals = S_ISREG(stat.st_mode) ? fcntl(file, F_GET_SEALS) : F_SEAL_SHRINK;
    mapping.may_shrink = seals < 0 || (seals & F_SEAL_SHRINK) == 0;
    int error = bring_in(mapping.address, length, writable);
    char byte;
    const iovec local = {&byte, 1}, remote = {reinterpret_cast<void *>(mapping.address), 1};
    // A device's own memory may be for the processor alone.
    if (error == 0 && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == EFAULT)
        error = EOPNOTSUPP;
    if (error != 0)
        munmap(mapping.start, mapping.size);
    return error;
}

}  // namespace urxe
