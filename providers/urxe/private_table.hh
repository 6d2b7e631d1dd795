// SPDX-License-Identifier: BSD-2-Clause
// Tables by index that grow and never move, and the pools that their indices come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace urxe {

/// Zeroed entries, in chunks. Lives in zeroed memory. Lookups by any thread; the rest is the caller's to lock.
template <class T, uint32_t ChunkBits, uint32_t DirectoryBits>
class PrivateTable {
public:
    /// The entry, or null where there has never been one.
    T *find(uint32_t index) const
    {
        if (index >> ChunkBits >= kChunks) [[unlikely]]
            return nullptr;
        T *chunk = chunks_[index >> ChunkBits].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + (index & (kEntries - 1));
    }
    /// The entry, made where it is not there; null: no memory.
    T *make(uint32_t index)
    {
        std::atomic<T *> &chunk = chunks_[index >> ChunkBits];
        if (chunk.load(std::memory_order_relaxed) == nullptr)
            chunk.store(static_cast<T *>(std::calloc(1, sizeof(T[kEntries]))), std::memory_order_release);
        return find(index);
    }
    /// Calls each(entry) for those that are not zero.
    template <class Each>
    void for_each(Each each)
    {
        for (std::atomic<T *> &place : chunks_)
            if (T *chunk = place.load(std::memory_order_acquire); chunk != nullptr)
                for (uint32_t i = 0; i < kEntries; ++i)
                    if (chunk[i])
                        each(chunk[i]);
    }
    void destroy()
    {
        for (std::atomic<T *> &chunk : chunks_)
            std::free(chunk.exchange(nullptr));
    }

private:
    static constexpr uint32_t kEntries = 1U << ChunkBits;
    static constexpr uint32_t kChunks = 1U << DirectoryBits;
    std::atomic<T *> chunks_[kChunks];
};

/// Who has an index. Lives in zeroed memory. Lookups by any thread; changes are the caller's to lock.
template <class T, uint32_t ChunkBits, uint32_t DirectoryBits>
class PointerTable {
public:
    /// Null: nobody has it.
    T *get(uint32_t index) const
    {
        const std::atomic<T *> *entry = table_.find(index);
        return entry == nullptr ? nullptr : entry->load(std::memory_order_acquire);
    }
    /// Makes room for an index; false: no memory.
    bool make(uint32_t index) { return table_.make(index) != nullptr; }
    /// Gives an index that there is room for to somebody, or to nobody.
    void set(uint32_t index, T *value) { table_.find(index)->store(value, std::memory_order_release); }
    /// Calls each(value) for all, in the order of indices.
    template <class Each>
    void for_each(Each each)
    {
        table_.for_each([&](std::atomic<T *> &entry) {
            if (T *value = entry.load(std::memory_order_acquire); value != nullptr)
                each(*value);
        });
    }
    void destroy() { table_.destroy(); }

private:
    PrivateTable<std::atomic<T *>, ChunkBits, DirectoryBits> table_;
};

/// Hands out indices 1 to capacity - 1. One that was given back comes again as late as can be, so that stale keys and
/// numbers mean nothing for long. Lives in zeroed memory. One thread at a time.
class IndexPool {
public:
    /// 0: none is left.
    uint32_t take(uint32_t capacity)
    {
        if (free_count_ > kRest || (free_count_ > 0 && used_ + 1 >= capacity)) {
            const uint32_t index = free_[first_];
            first_ = first_ + 1 == size_ ? 0 : first_ + 1;
            --free_count_;
            return index;
        }
        return used_ + 1 >= capacity ? 0 : ++used_;
    }
    void give(uint32_t index)
    {
        if (free_count_ == size_ && !grow())
            return;
        uint32_t place = first_ + free_count_++;
        free_[place >= size_ ? place - size_ : place] = index;
    }
    void destroy()
    {
        std::free(free_);
        free_ = nullptr;
    }

private:
    /// As many stay unused before the first is handed out again.
    static constexpr uint32_t kRest = 32;

    bool grow()
    {
        const uint32_t size = size_ == 0 ? 64 : size_ * 2;
        auto *bigger = static_cast<uint32_t *>(std::malloc(size * sizeof(uint32_t)));
        if (bigger == nullptr)
            return false;
        for (uint32_t i = 0; i < free_count_; ++i)
            bigger[i] = free_[first_ + i >= size_ ? first_ + i - size_ : first_ + i];
        std::free(free_);
        free_ = bigger;
        size_ = size;
        first_ = 0;
        return true;
    }

    uint32_t *free_;  ///< a ring
    uint32_t size_, first_, free_count_;
    uint32_t used_;  ///< highest index ever handed out
};

}  // namespace urxe
