// SPDX-License-Identifier: BSD-2-Clause
// A ring of elements in memory that the process shares with the kernel's rxe driver.
#pragma once

#include <rdma/rdma_user_rxe.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace rxe {

/// What a queue without a ring has in its place: nothing is in it, nothing fits.
rxe_queue_buf *nowhere();

/// A ring with elements that start with a `T` and lie a power of two bytes apart.
///
/// An index runs from 0 to mask(); the ring is empty when both indices are equal, so it holds at most mask()
/// elements. Each index has one writer: of a send or receive queue the process writes the producer's, of a
/// completion queue the consumer's; the driver writes the other. Whoever calls must hold the queue's lock. Lives in
/// zeroed memory.
template <class T>
class Queue {
public:
    /// Maps the ring that the driver described in `info`; 0 or an errno value. Zero size means no ring.
    int map(int fd, const mminfo &info)
    {
        void *memory =
            mmap(nullptr, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(info.offset));
        if (memory == MAP_FAILED)
            return errno;
        ring_ = static_cast<rxe_queue_buf *>(memory);
        size_ = info.size;
        mask_ = ring_->index_mask;
        element_size_ = size_t{1} << ring_->log2_elem_size;
        return 0;
    }

    /// Exchanges the ring for the one in which the driver put the elements. The driver has left the old one:
    /// on an error there is none any more, but a place where nothing arrives and nothing fits.
    int remap(int fd, const mminfo &info)
    {
        Queue replacement{};
        int error = replacement.map(fd, info);
        if (error != 0) {
            unmap();  // what it took may be what is missing
            error = replacement.map(fd, info);
        }
        if (error != 0) {
            replacement = Queue{};
            replacement.ring_ = nowhere();
        }
        unmap();
        *this = replacement;
        return error;
    }

    /// Leaves the queue as zeroed memory is: without a ring. Keeps errno.
    void unmap()
    {
        if (size_ == 0)
            return;
        const int saved = errno;
        munmap(ring_, size_);
        errno = saved;
        *this = Queue{};
    }

    uint32_t mask() const { return mask_; }
    uint32_t next(uint32_t index) const { return (index + 1) & mask_; }
    bool full(uint32_t producer) const { return ((producer + 1 - raw(ring_->consumer_index)) & mask_) == 0; }
    bool empty(uint32_t consumer) const { return consumer == load(ring_->producer_index); }

    /// How many elements the process can take from `consumer` on.
    uint32_t available(uint32_t consumer) const { return (raw(ring_->producer_index) - consumer) & mask_; }

    T *at(uint32_t index) const { return reinterpret_cast<T *>(ring_->data + index * element_size_); }
    /// How many bytes lie between an element and the next.
    size_t element_size() const { return element_size_; }

    /// Where the process puts the next element.
    uint32_t producer() const { return own(ring_->producer_index); }
    /// Where the process finds the next element, if there is one.
    uint32_t consumer() const { return own(ring_->consumer_index); }

    /// Shows the driver all elements in front of `producer`.
    void publish(uint32_t producer) { store(ring_->producer_index, producer); }
    /// Gives the driver back all elements in front of `consumer`.
    void retire(uint32_t consumer) { store(ring_->consumer_index, consumer); }

private:
    using Index = std::atomic_ref<uint32_t>;

    uint32_t own(uint32_t &index) const { return Index(index).load(std::memory_order_relaxed) & mask_; }
    uint32_t load(uint32_t &index) const { return raw(index) & mask_; }
    static uint32_t raw(uint32_t &index) { return Index(index).load(std::memory_order_acquire); }
    static void store(uint32_t &index, uint32_t value)
    {
        Index(index).store(value, std::memory_order_release);
    }

    rxe_queue_buf *ring_;
    size_t size_;
    size_t element_size_;
    uint32_t mask_;
};

}  // namespace rxe
