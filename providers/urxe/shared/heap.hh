// SPDX-License-Identifier: BSD-2-Clause
// The memory that a process shares with its peers: a file without a name, mapped by its owner and by whoever talks to it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/layout.hh"

namespace urxe::shared {

/// Addresses set aside for a heap in each process that maps it, and so the largest size of one.
constexpr uint64_t kHeapReserve = uint64_t{8} << 30;

/// Reads what others may write to at any time, once: what is checked is what is used.
template <class T>
T once(const T &shared)
{
    return *static_cast<const volatile T *>(&shared);
}

/// A heap as one process has it mapped. More of it is mapped as it grows; addresses stay valid until close().
class Heap {
public:
    /// Makes a new one with a zeroed ProcessHeader, which this process owns. 0 or a positive errno value.
    int create();
    /// Maps one that another process made: `file` is its file, which stays the caller's. EPROTO where it is no heap, or one
    /// of another release, or one that could shrink beneath us.
    int open(int file);
    void close();
    /// What a child does with a heap that it inherited: goes on with a copy of its own, which nobody else sees.
    void become_private();

    bool is_open() const { return base_ != nullptr; }
    ProcessHeader &header() const { return *reinterpret_cast<ProcessHeader *>(base_); }
    /// The file's number, in the owner; -1 elsewhere.
    int file() const { return file_; }

    /// The block at an offset, or null where the heap has no such block. Any thread.
    void *at(Offset offset, size_t size) const
    {
        const uint64_t mapped = mapped_.load(std::memory_order_acquire);
        if (offset > mapped || size > mapped - offset) [[unlikely]]
            return map_up_to(offset, size) ? base_ + offset : nullptr;
        return base_ + offset;
    }

    /// The entry at an index that may be anything; null where the table has none.
    template <class Table>
    typename Table::Entry *entry(const Table &table, uint32_t index) const
    {
        using Entry = typename Table::Entry;
        if (index >= Table::kCapacity) [[unlikely]]
            return nullptr;
        const Offset chunk = table.chunks[index >> Table::kChunkBits].load(std::memory_order_acquire);
        if (chunk == 0 || chunk % alignof(Entry) != 0) [[unlikely]]
            return nullptr;
        void *memory = at(chunk, sizeof(Entry) * Table::kEntriesPerChunk);
        return memory == nullptr ? nullptr
                                 : static_cast<Entry *>(memory) + (index & (Table::kEntriesPerChunk - 1));
    }

private:
    bool map_up_to(Offset offset, size_t size) const;
    int reserve();

    char *base_;
    mutable std::atomic<uint64_t> mapped_;  ///< bytes from base_ that are there
    int file_;
};

/// Hands out the blocks of a heap to its owner. One thread at a time.
class Allocator {
public:
    /// Takes all but the header of a heap that create() made.
    void init(Heap &heap);
    void destroy();

    /// A zeroed block of at least that size, aligned to a cache line; 0: no memory (the log says why).
    Offset allocate(size_t size);
    /// Gives a block back. No peer may still look at it.
    void free(Offset offset, size_t size);

private:
    static constexpr unsigned kSmallest = 6;  ///< log2 of the smallest block
    static constexpr unsigned kClasses = 34 - kSmallest;

    struct FreeList {
        Offset *blocks;
        size_t count, capacity;
    };
    static unsigned class_of(size_t size);
    bool grow(uint64_t size);

    Heap *heap_;
    uint64_t used_, size_;
    FreeList free_[kClasses];
};

}  // namespace urxe::shared
