// SPDX-License-Identifier: BSD-2-Clause
// What the process's file descriptors mean to the simulation.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "kernel/file.hh"

namespace sim {

class Descriptors {
public:
    enum class Kind : uint8_t {
        kOther,           ///< nothing of ours
        kDevice,          ///< an open uverbs device
        kAsyncChannel,    ///< asynchronous events
        kCompChannel,     ///< completion events
        kNetlink,         ///< a socket that stands for NETLINK_RDMA
        kEmptyAttribute,  ///< a sysfs file that reading fails with EINVAL
    };

    static Descriptors &get();

    Kind kind(int fd) const
    {
        return is_in_table(fd) ? table_[fd].kind.load(std::memory_order_acquire) : Kind::kOther;
    }
    /// The open device; null where it is none.
    File *device(int fd);
    uint32_t channel(int fd) const { return kind(fd) != Kind::kOther ? table_[fd].channel : 0; }

    void set_device(int fd, File *file);
    void set_channel(int fd, uint32_t channel, bool is_async);
    void set(int fd, Kind kind);
    /// The descriptor is closed, or about to be replaced.
    void forget(int fd);
    /// `copy` now means what `fd` does.
    void duplicate(int fd, int copy);
    /// Finds out what a descriptor means that came from another process or was there before.
    void identify(int fd);
    void forget_range(unsigned first, unsigned last);

private:
    static constexpr int kSize = 1 << 16;

    struct Entry {
        std::atomic<Kind> kind;
        uint32_t channel;
        File *file;
    };

    Descriptors();
    static bool is_in_table(int fd) { return fd >= 0 && fd < kSize; }
    void put(int fd, Kind kind, uint32_t channel, File *file);
    void release(File *file);

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Entry table_[kSize]{};
};

}  // namespace sim
