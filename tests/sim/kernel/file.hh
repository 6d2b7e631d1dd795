// SPDX-License-Identifier: BSD-2-Clause
// An open uverbs device: its objects, its queues' memory. All of it lies in the file that backs the
// descriptor, so that whoever holds a descriptor of it, in whatever process, finds the same objects.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "description.hh"
#include "kernel/object.hh"

namespace sim {

constexpr uint32_t kMaxObjects = 1 << 17;

struct FileState {
    uint64_t magic;
    pthread_mutex_t lock;
    uint32_t device;      ///< place in the description
    uint32_t generation;  ///< of the device when the file was opened
    uint32_t slot;        ///< in SharedPage::files
    uint32_t has_context;
    uint32_t default_async;  ///< number of the event channel; 0: none
    uint32_t first_free;
    uint32_t end;          ///< no object in use from here on
    uint64_t next_offset;  ///< for mmap
    uint64_t commands;
    char session[256];  ///< directory of the session that opened it
    Object objects[kMaxObjects];
};

class File {
public:
    /// Opens the device; the descriptor, or a negative errno. `file` takes what belongs to it.
    static int open(const Device &device, int flags, File *&file);
    /// The file behind a descriptor that came from another process, or null.
    static File *adopt(int fd);
    ~File();
    File(const File &) = delete;

    const Device &device() const { return *device_; }
    FileState &state() { return *state_; }
    ino_t inode() const { return inode_; }
    bool is_disassociated() const;

    /// A new object, or null when there are too many. Its handle is the lowest one that is free.
    Object *add(uint16_t kind, uint32_t &handle);
    /// The object with this handle and kind, or null with `error` ENOENT or EINVAL.
    Object *find(uint16_t kind, uint64_t handle, int &error);
    Object *find_any(uint64_t handle);
    uint32_t handle_of(const Object &object) const;
    /// Has `owner` hold the other object, which then cannot be destroyed.
    void hold(Object &owner, size_t place, uint32_t handle);
    /// Removes it, and what it held is free again. EBUSY: another holds it.
    int remove(Object &object);
    void discard(Object &object);

    /// A page-aligned range of the file, for mmap.
    uint64_t allocate_range(uint64_t size);
    void write_range(uint64_t offset, const void *bytes, size_t size);
    /// Whether mmap of this range would map memory that was handed out.
    bool is_range(uint64_t offset, uint64_t size);

    void lock();
    void unlock();

    /// Descriptors of this process that mean it.
    uint32_t descriptors = 0;

    /// One of them, for as long as a command runs.
    void set_backing(int fd) { backing_ = fd; }

private:
    File(const Device &device, FileState *state, int fd, ino_t inode)
        : device_(&device), state_(state), backing_(fd), inode_(inode)
    {
    }

    const Device *device_;
    FileState *state_;
    int backing_;
    ino_t inode_;
};

class FileLock {
public:
    explicit FileLock(File &file) : file_(file) { file_.lock(); }
    ~FileLock() { file_.unlock(); }
    FileLock(const FileLock &) = delete;

private:
    File &file_;
};

}  // namespace sim
