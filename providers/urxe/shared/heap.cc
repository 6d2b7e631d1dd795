// SPDX-License-Identifier: BSD-2-Clause
// Making, mapping and growing a heap, and handing out its blocks.
#include "shared/heap.hh"

#include <fcntl.h>
#include <infiniband/driver.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace urxe::shared {
namespace {

/// A heap grows by at least this.
constexpr uint64_t kStep = uint64_t{1} << 20;

constexpr uint64_t round_up(uint64_t size, uint64_t step)
{
    return (size + step - 1) / step * step;
}

constexpr uint64_t kHeaderSize = round_up(sizeof(ProcessHeader), kStep);

}  // namespace

int Heap::reserve()
{
    void *memory = mmap(nullptr, kHeapReserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        const int error = errno;
        __verbs_log(
            nullptr, VERBS_LOG_WARN,
            "urxe: no %llu GiB of addresses for the memory shared between processes (%s); raise `ulimit -v`",
            static_cast<unsigned long long>(kHeapReserve >> 30), strerrordesc_np(error));
        return error;
    }
    base_ = static_cast<char *>(memory);
    mapped_.store(0, std::memory_order_relaxed);
    return 0;
}

int Heap::create()
{
    base_ = nullptr;
    file_ = memfd_create("urxe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file_ < 0)
        return errno;
    int error = fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK) == 0 ? 0 : errno;
    if (error == 0 && ftruncate(file_, kHeaderSize) != 0)
        error = errno;
    if (error == 0)
        error = reserve();
    if (error == 0 && at(0, sizeof(ProcessHeader)) == nullptr)
        error = ENOMEM;
    if (error != 0) {
        close();
        return error;
    }
    header().magic = kMagic;
    return 0;
}

int Heap::open(int file)
{
    base_ = nullptr;
    file_ = -1;
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        return EPROTO;
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return errno;
    file_ = own;
    int error = reserve();
    if (error == 0 && (at(0, sizeof(ProcessHeader)) == nullptr || header().magic != kMagic))
        error = EPROTO;
    if (error != 0)
        close();
    return error;
}

void Heap::close()
{
    if (base_ != nullptr)
        munmap(base_, kHeapReserve);
    base_ = nullptr;
    if (file_ >= 0)
        ::close(file_);
    file_ = -1;
}

void Heap::become_private()
{
    const uint64_t mapped = mapped_.load(std::memory_order_relaxed);
    // Without memory for that the child goes on with its parent's, as with a file that both have open.
    if (mmap(base_, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_, 0) == MAP_FAILED)
        return;
    for (AccessSlot &slot : header().access)
        slot.thread.store(0, std::memory_order_relaxed);
}

bool Heap::map_up_to(Offset offset, size_t size) const
{
    if (offset > kHeapReserve || size > kHeapReserve - offset)
        return false;
    struct stat stat;
    if (fstat(file_, &stat) != 0)
        return false;
    const auto there = std::min(static_cast<uint64_t>(stat.st_size), kHeapReserve);
    if (offset + size > there)
        return false;
    // Two threads may do this at once: both map the same pages to the same place.
    uint64_t mapped = mapped_.load(std::memory_order_acquire);
    if (mapped >= there)
        return true;
    if (mmap(base_ + mapped, there - mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
             static_cast<off_t>(mapped)) == MAP_FAILED)
        return false;
    while (mapped < there && !mapped_.compare_exchange_weak(mapped, there, std::memory_order_acq_rel)) {
    }
    return true;
}

void Allocator::init(Heap &heap)
{
    heap_ = &heap;
    used_ = round_up(sizeof(ProcessHeader), 4096);
    size_ = kHeaderSize;
    for (FreeList &list : free_)
        list = {};
}

void Allocator::destroy()
{
    for (FreeList &list : free_)
        std::free(std::exchange(list, {}).blocks);
}

unsigned Allocator::class_of(size_t size)
{
    const unsigned bits = static_cast<unsigned>(std::bit_width(std::max<size_t>(size, 1) - 1));
    return bits <= kSmallest ? 0 : bits - kSmallest;
}

bool Allocator::grow(uint64_t size)
{
    // By half of what there is, so that peers seldom have to map more.
    const uint64_t wanted = std::max(size, std::min(size_ + round_up(size_ / 2, kStep), kHeapReserve));
    const uint64_t rounded = round_up(wanted, kStep);
    if (rounded > kHeapReserve || ftruncate(heap_->file(), static_cast<off_t>(rounded)) != 0) {
        __verbs_log(nullptr, VERBS_LOG_WARN,
                    "urxe: the memory shared between processes cannot grow to %llu MiB; it holds the queues "
                    "of this process",
                    static_cast<unsigned long long>(rounded >> 20));
        return false;
    }
    size_ = rounded;
    return true;
}

Offset Allocator::allocate(size_t size)
{
    const unsigned index = class_of(size);
    if (index >= kClasses)
        return 0;
    FreeList &list = free_[index];
    if (list.count > 0) {
        const Offset offset = list.blocks[--list.count];
        std::memset(heap_->at(offset, size), 0, size);
        return offset;
    }
    const uint64_t block = uint64_t{1} << (index + kSmallest);
    if (used_ + block > size_ && !grow(used_ + block))
        return 0;
    if (heap_->at(used_, block) == nullptr)
        return 0;
    return std::exchange(used_, used_ + block);
}

void Allocator::free(Offset offset, size_t size)
{
    FreeList &list = free_[class_of(size)];
    if (list.count == list.capacity) {
        const size_t capacity = list.capacity == 0 ? 16 : list.capacity * 2;
        auto *blocks = static_cast<Offset *>(std::realloc(list.blocks, capacity * sizeof(Offset)));
        if (blocks == nullptr)
            return;  // Lost until the heap goes.
        list.blocks = blocks;
        list.capacity = capacity;
    }
    list.blocks[list.count++] = offset;
}

}  // namespace urxe::shared
