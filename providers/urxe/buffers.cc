// SPDX-License-Identifier: BSD-2-Clause
// Making buffers, and mapping those of peers.
#include "buffers.hh"

#include <fcntl.h>
#include <infiniband/driver.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/memory.hh"
#include "process.hh"

namespace urxe {
namespace {

/// A file of so many bytes that can never have fewer, with all of its memory there: nobody who maps it gets SIGBUS. -1 with
/// errno.
int make_file(uint64_t size)
{
    const int file = memfd_create("urxe-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    // Where the system cannot do it at once, the C library writes to each page.
    int error;
    do {
        error = posix_fallocate(file, 0, static_cast<off_t>(size));
    } while (error == EINTR);
    if (error == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        error = errno;
    if (error == 0)
        return file;
    if (error == ENOSPC || error == EFBIG)
        error = ENOMEM;
    close(file);
    errno = error;
    return -1;
}

/// The file's number in the owner may stand for something else by now.
bool is_file(const struct stat &stat, const shared::BufferEntry &entry)
{
    return S_ISREG(stat.st_mode) && stat.st_ino == entry.inode;
}

/// What find_in_buffer() does the first time that it meets a buffer.
[[gnu::noinline, gnu::cold]] BufferMapping *meet(Peer &peer, uint32_t index, const shared::BufferEntry &entry,
                                                 uint32_t generation)
{
    const int error = errno;
    common::Locked locked(peer.lock);
    BufferMapping *mapping = peer.buffers.make(index);
    if (mapping != nullptr && mapping->generation.load(std::memory_order_relaxed) != generation) {
        // The buffer that had the index has no regions any more, and the owner waited for all who used them.
        unmap_buffer(*mapping);
        if (const int failure = map_buffer(peer, entry, *mapping); failure != 0)
            __verbs_log(nullptr, VERBS_LOG_INFO,
                        "urxe: a buffer of process %u cannot be mapped (%s); the kernel copies instead",
                        peer.pid, strerrordesc_np(failure));
        mapping->generation.store(generation, std::memory_order_release);
    }
    errno = error;
    return mapping;
}

}  // namespace

int map_buffer(const Peer &peer, const shared::BufferEntry &entry, BufferMapping &mapping)
{
    const uint32_t generation = entry.generation.load(std::memory_order_acquire);
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%u/fd/%u", peer.pid, entry.file);
    // Looked at first, because opening a device or a pipe would be noticed.
    struct stat stat;
    if (::stat(path, &stat) != 0)
        return errno;
    if (!is_file(stat, entry))
        return ESTALE;
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return errno;
    const int seals = fcntl(file, F_GET_SEALS);
    void *memory = MAP_FAILED;
    int error = ESTALE;
    if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(file, &stat) == 0 && is_file(stat, entry)) {
        memory =
            mmap(nullptr, static_cast<size_t>(stat.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        error = errno;
    }
    close(file);
    if (memory == MAP_FAILED)
        return error;
    mapping.address = static_cast<char *>(memory);
    mapping.size = static_cast<uint64_t>(stat.st_size);
    mapping.generation.store(generation, std::memory_order_release);
    return 0;
}

void unmap_buffer(BufferMapping &mapping)
{
    mapping.generation.store(0, std::memory_order_release);
    if (mapping.address != nullptr)
        munmap(mapping.address, mapping.size);
    mapping.address = nullptr;
}

void BufferList::destroy()
{
    for (uint32_t i = 0; i < count_; ++i) {
        munmap(reinterpret_cast<void *>(sorted_[i]->address), sorted_[i]->size);
        close(sorted_[i]->file);
        std::free(sorted_[i]);
    }
    std::free(sorted_);
    lock_.destroy();
}

uint32_t BufferList::place_behind(uintptr_t address) const
{
    Buffer *const *const begin = sorted_;
    Buffer *const *found =
        std::upper_bound(begin, begin + count_, address,
                         [](uintptr_t wanted, const Buffer *buffer) { return wanted < buffer->address; });
    return static_cast<uint32_t>(found - begin);
}

bool BufferList::make_room()
{
    if (count_ < capacity_)
        return true;
    const uint32_t capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    void *bigger = std::realloc(sorted_, capacity * sizeof(void *));
    if (bigger == nullptr)
        return false;
    sorted_ = static_cast<Buffer **>(bigger);
    capacity_ = capacity;
    return true;
}

Buffer *BufferList::make(Process &process, size_t size)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (size == 0)
        return common::null_with(EINVAL);
    if (size > PTRDIFF_MAX - page)
        return common::null_with(ENOMEM);
    common::Allocated<Buffer> made = common::allocate<Buffer>();
    if (!made)
        return nullptr;
    Buffer &buffer = *made;
    buffer.size = (size + page - 1) / page * page;
    buffer.references = 1;
    buffer.file = make_file(buffer.size);
    if (buffer.file < 0)
        return nullptr;
    struct stat stat;
    int error = fstat(buffer.file, &stat) == 0 ? 0 : errno;
    void *memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(nullptr, buffer.size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.file, 0);
        error = memory == MAP_FAILED ? errno : 0;
    }
    if (error == 0) {
        buffer.address = reinterpret_cast<uintptr_t>(memory);
        common::Locked locked(process.lock);
        buffer.index = process.buffer_indices.take(shared::BufferTable::kCapacity);
        if (buffer.index == 0 || process.make_entry(process.header().buffers, buffer.index) != 0)
            error = ENOMEM;
    }
    if (error == 0) {
        common::Locked locked(lock_);
        if (make_room()) {
            Buffer **place = sorted_ + place_behind(buffer.address);
            std::copy_backward(place, sorted_ + count_, sorted_ + count_ + 1);
            *place = &buffer;
            ++count_;
            shared::BufferEntry &entry = *process.self.heap.entry(process.header().buffers, buffer.index);
            entry.file = static_cast<uint32_t>(buffer.file);
            entry.inode = stat.st_ino;
            entry.address = buffer.address;
            last_generation_ = std::max(last_generation_ + 1, 1U);
            entry.generation.store(last_generation_, std::memory_order_release);
            return made.release();
        }
        error = ENOMEM;
    }
    if (buffer.index != 0) {
        common::Locked locked(process.lock);
        process.buffer_indices.give(buffer.index);
    }
    if (memory != MAP_FAILED)
        munmap(memory, buffer.size);
    close(buffer.file);
    return common::null_with(error);
}

Buffer *BufferList::find(uintptr_t address, size_t length)
{
    common::Locked locked(lock_);
    const uint32_t behind = place_behind(address);
    if (behind == 0)
        return nullptr;
    Buffer &buffer = *sorted_[behind - 1];
    const uint64_t offset = address - buffer.address;
    if (offset >= buffer.size || length > buffer.size - offset)
        return nullptr;
    ++buffer.references;
    return &buffer;
}

void BufferList::remove(Process &process, Buffer &buffer)
{
    shared::BufferEntry &entry = *process.self.heap.entry(process.header().buffers, buffer.index);
    entry.dm_length.store(0, std::memory_order_release);
    entry.generation.store(0, std::memory_order_release);
    Buffer **place = sorted_ + place_behind(buffer.address) - 1;
    std::copy(place + 1, sorted_ + count_, place);
    --count_;
    munmap(reinterpret_cast<void *>(buffer.address), buffer.size);
    // Peers unmap it when they meet the next of that index. Its memory need not wait for that.
    if (!is_inherited_)
        fallocate(buffer.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  static_cast<off_t>(buffer.size));
    close(buffer.file);
}

bool BufferList::release(Process &process, Buffer &buffer, bool only_last)
{
    {
        common::Locked locked(lock_);
        if (only_last && buffer.references != 1)
            return false;
        if (--buffer.references != 0)
            return true;
        remove(process, buffer);
    }
    {
        common::Locked locked(process.lock);
        process.buffer_indices.give(buffer.index);
    }
    std::free(&buffer);
    return true;
}

void BufferList::become_private()
{
    is_inherited_ = true;
    for (uint32_t i = 0; i < count_; ++i)
        static_cast<void>(mmap(reinterpret_cast<void *>(sorted_[i]->address), sorted_[i]->size,
                               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, sorted_[i]->file, 0));
}

char *find_in_buffer(Peer &peer, uint32_t index, uint64_t address, uint64_t length)
{
    const shared::BufferEntry *entry = peer.heap.entry(peer.heap.header().buffers, index);
    if (entry == nullptr)
        return nullptr;
    const uint32_t generation = entry->generation.load(std::memory_order_acquire);
    if (generation == 0)
        return nullptr;
    BufferMapping *mapping = peer.buffers.find(index);
    if (mapping == nullptr || mapping->generation.load(std::memory_order_acquire) != generation) [[unlikely]]
        mapping = meet(peer, index, *entry, generation);
    if (mapping == nullptr || mapping->address == nullptr) [[unlikely]]
        return nullptr;
    const uint64_t offset = address - entry->address;
    if (offset > mapping->size || length > mapping->size - offset) [[unlikely]]
        return nullptr;
    return mapping->address + offset;
}

void unmap_buffers(Peer &peer)
{
    peer.buffers.for_each(unmap_buffer);
    peer.buffers.destroy();
}

}  // namespace urxe
