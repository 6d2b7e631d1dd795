// SPDX-License-Identifier: BSD-2-Clause
// What the process's file descriptors mean to the simulation.
#include "interpose/descriptors.hh"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include <vector>

#include "interpose/real.hh"
#include "kernel/event.hh"
#include "session.hh"

namespace sim {
namespace {

class Guard {
public:
    explicit Guard(pthread_mutex_t &lock) : lock_(lock) { pthread_mutex_lock(&lock_); }
    ~Guard() { pthread_mutex_unlock(&lock_); }
    Guard(const Guard &) = delete;

private:
    pthread_mutex_t &lock_;
};

Descriptors *the_descriptors = nullptr;

}  // namespace

Descriptors &Descriptors::get()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] { the_descriptors = new Descriptors; });
    return *the_descriptors;
}

Descriptors::Descriptors()
{
    // A child must not find the lock taken by a thread that it does not have.
    pthread_atfork([] { pthread_mutex_lock(&the_descriptors->lock_); },
                   [] { pthread_mutex_unlock(&the_descriptors->lock_); },
                   [] { pthread_mutex_unlock(&the_descriptors->lock_); });
}

File *Descriptors::device(int fd)
{
    return kind(fd) == Kind::kDevice ? table_[fd].file : nullptr;
}

void Descriptors::put(int fd, Kind kind, uint32_t channel, File *file)
{
    if (!is_in_table(fd))
        return;
    table_[fd].channel = channel;
    table_[fd].file = file;
    table_[fd].kind.store(kind, std::memory_order_release);
    if (file != nullptr)
        ++file->descriptors;
}

void Descriptors::release(File *file)
{
    if (file != nullptr && --file->descriptors == 0) {
        Session &session = Session::get();
        const uint32_t slot = file->state().slot;
        if (slot != kNone && session.directory() == file->state().session)
            session.shared().files[slot].device_plus_one.store(0);
        delete file;
    }
}

void Descriptors::set_device(int fd, File *file)
{
    const Guard guard(lock_);
    put(fd, Kind::kDevice, 0, file);
}

void Descriptors::set_channel(int fd, uint32_t channel, bool is_async)
{
    const Guard guard(lock_);
    put(fd, is_async ? Kind::kAsyncChannel : Kind::kCompChannel, channel, nullptr);
}

void Descriptors::set(int fd, Kind kind)
{
    const Guard guard(lock_);
    put(fd, kind, 0, nullptr);
}

void Descriptors::forget(int fd)
{
    if (kind(fd) == Kind::kOther)
        return;
    const Guard guard(lock_);
    File *file = table_[fd].file;
    table_[fd].kind.store(Kind::kOther);
    table_[fd].file = nullptr;
    release(file);
}

void Descriptors::duplicate(int fd, int copy)
{
    if (copy < 0 || copy == fd)
        return;
    forget(copy);
    if (kind(fd) == Kind::kOther)
        return;
    const Guard guard(lock_);
    put(copy, table_[fd].kind.load(), table_[fd].channel, table_[fd].file);
}

void Descriptors::identify(int fd)
{
    if (!is_in_table(fd))
        return;
    const int saved = errno;
    forget(fd);
    if (const uint32_t channel = find_channel(fd)) {
        set_channel(fd, channel, true);
    } else if (File *adopted = File::adopt(fd)) {
        const Guard guard(lock_);
        File *known = nullptr;
        for (const Entry &entry : table_)
            if (entry.kind.load() == Kind::kDevice && entry.file->inode() == adopted->inode())
                known = entry.file;
        if (known != nullptr)
            delete adopted;
        put(fd, Kind::kDevice, 0, known != nullptr ? known : adopted);
    }
    errno = saved;
}

void Descriptors::forget_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < kSize; ++fd)
        forget(static_cast<int>(fd));
}

}  // namespace sim
