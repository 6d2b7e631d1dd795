// SPDX-License-Identifier: BSD-2-Clause
// A ring of elements in memory that the process shares with the kernel's siw driver.
#pragma once

#include <rdma/siw-abi.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace siw {

/// A ring of `T`s. No index is shared: the flag SIW_WQE_VALID of an element says whose it is. The process gives the
/// driver elements of send and receive queues by setting it, the driver takes them by clearing it; in completion
/// queues it is the other way round. Each side goes round with a position of its own. Whoever calls must hold the
/// queue's lock. Lives in zeroed memory.
template <class T>
class Ring {
public:
    /// Maps `count` elements, and `trailer` bytes behind them, that the driver offers under `key`; 0 or an errno
    /// value.
    int map(int fd, uint64_t key, uint32_t count, size_t trailer = 0)
    {
        if (key == SIW_INVAL_UOBJ_KEY || count == 0)
            return EPROTO;  // a driver that has no such queue for the process is not the one known here
        const size_t size = count * sizeof(T) + trailer;
        void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(key));
        if (memory == MAP_FAILED)
            return errno;
        elements_ = static_cast<T *>(memory);
        size_ = size;
        count_ = count;
        return 0;
    }

    /// Leaves the ring as zeroed memory is: without elements. Keeps errno.
    void unmap()
    {
        if (elements_ == nullptr)
            return;
        const int saved = errno;
        munmap(elements_, size_);
        errno = saved;
        *this = Ring{};
    }

    uint32_t count() const { return count_; }
    uint32_t next(uint32_t position) const { return position + 1 == count_ ? 0 : position + 1; }
    uint32_t previous(uint32_t position) const { return (position == 0 ? count_ : position) - 1; }
    T &at(uint32_t position) const { return elements_[position]; }
    /// What lies behind the last element.
    void *trailer() const { return elements_ + count_; }

    bool valid(uint32_t position, std::memory_order order = std::memory_order_acquire) const
    {
        return (flags(position).load(order) & SIW_WQE_VALID) != 0;
    }
    /// Hands the element over, with SIW_WQE_VALID set or cleared: everything else in it was read or written before.
    void set_flags(uint32_t position, decltype(T::flags) value,
                   std::memory_order order = std::memory_order_release) const
    {
        flags(position).store(value, order);
    }

private:
    std::atomic_ref<decltype(T::flags)> flags(uint32_t position) const
    {
        return std::atomic_ref<decltype(T::flags)>(elements_[position].flags);
    }

    T *elements_;
    size_t size_;
    uint32_t count_;
};

}  // namespace siw
