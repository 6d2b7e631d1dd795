// SPDX-License-Identifier: BSD-2-Clause
// Memory that the provider itself hands out: each buffer is a file of its own, which peers map, so that a request of theirs
// is a copy from memory to memory without the kernel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/lock.hh"
#include "shared/layout.hh"

namespace urxe {

struct Peer;
class Process;

/// A buffer of this process. It goes with the last reference: the one of whoever asked for it, and one of each region of it.
struct Buffer {
    uintptr_t address;
    uint64_t size;  ///< whole pages
    int file;
    uint32_t index;  ///< in the table that peers look at
    uint32_t references;
};

/// The buffers of this process, by address. Lives in zeroed memory, between init() and destroy(). Any thread.
class BufferList {
public:
    void init() { lock_.init(); }
    /// Unmaps what is left.
    void destroy();

    /// Zeroed memory of at least `size` bytes; null with errno: EINVAL for no bytes at all, ENOMEM, or what the system says.
    Buffer *make(Process &process, size_t size);
    /// The buffer that has all of a range, with one more reference; null where none has.
    Buffer *find(uintptr_t address, size_t length);
    /// Gives back a reference.
    void release(Process &process, Buffer &buffer) { release(process, buffer, false); }
    /// The same, if it is the last; else false.
    bool release_last(Process &process, Buffer &buffer) { return release(process, buffer, true); }

    // Around a fork: nobody changes the list meanwhile.
    void before_fork() { lock_.lock(); }
    void after_fork() { lock_.unlock(); }
    /// In the child, goes on with copies of its own.
    void become_private();

private:
    bool make_room();
    bool release(Process &process, Buffer &buffer, bool only_last);
    void remove(Process &process, Buffer &buffer);
    /// The place of the first that begins behind an address.
    uint32_t place_behind(uintptr_t address) const;

    common::Mutex lock_;
    Buffer **sorted_;
    uint32_t count_, capacity_;
    uint32_t last_generation_;
    bool is_inherited_;
};

/// A peer's buffer as this process has it mapped.
struct BufferMapping {
    std::atomic<uint32_t> generation;  ///< the buffer's; 0: none
    char *address;                     ///< null: it cannot be mapped
    uint64_t size;

    explicit operator bool() const { return address != nullptr; }
};

/// Where this process has `length` bytes that a peer has at `address`, in a buffer of that index; null: nowhere. Under an
/// Access to the peer, and good for as long.
char *find_in_buffer(Peer &peer, uint32_t index, uint64_t address, uint64_t length);

/// Maps a buffer of a peer, or of this process, once more. 0, ESTALE where it is not there any more, or what the system says.
int map_buffer(const Peer &peer, const shared::BufferEntry &entry, BufferMapping &mapping);
void unmap_buffer(BufferMapping &mapping);

/// Unmaps all buffers of a peer that goes.
void unmap_buffers(Peer &peer);

}  // namespace urxe
