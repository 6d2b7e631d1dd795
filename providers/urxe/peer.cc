// SPDX-License-Identifier: BSD-2-Clause
// Other processes of the user on this host: finding them, mapping their heaps, waking them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/memory.hh"
#include "process.hh"
#include "slot_address.hh"

namespace urxe {
namespace {

/// Opens the peer's heap; a negative errno value where it cannot be found.
int open_heap_of(uint32_t pid)
{
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%u/fd", pid);
    DIR *directory = opendir(path);
    if (directory == nullptr)
        return -errno;
    int file = -ENOENT;
    while (file < 0) {
        const dirent *entry = readdir(directory);
        if (entry == nullptr)
            break;
        char target[64];
        const ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);
        constexpr char kName[] = "/memfd:urxe (deleted)";
        if (length != sizeof kName - 1 || std::memcmp(target, kName, sizeof kName - 1) != 0)
            continue;
        file = openat(dirfd(directory), entry->d_name, O_RDWR | O_CLOEXEC);
        if (file < 0)
            file = -errno;
    }
    closedir(directory);
    return file;
}

bool can_copy_from(const Peer &peer)
{
    uint64_t value = 0;
    const iovec local = {&value, sizeof value};
    const uint64_t address = peer.heap.header().probe;
    const iovec remote = {reinterpret_cast<void *>(address), sizeof value};
    return process_vm_readv(static_cast<pid_t>(peer.pid), &local, 1, &remote, 1, 0) == sizeof value &&
           value == shared::kMagic;
}

void close_pipes(Peer &peer)
{
    for (Peer::OpenPipe &pipe : peer.pipes)
        if (pipe.file >= 0)
            close(pipe.file);
}

}  // namespace

Peer *Process::connect(uint32_t slot)
{
    sockaddr_un address;
    const socklen_t length = slot_address(slot, address);
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0)
        return nullptr;
    common::Allocated<Peer> made(static_cast<Peer *>(std::calloc(1, sizeof(Peer))));
    ucred who;
    socklen_t who_size = sizeof who;
    int heap = -1;
    if (!made || ::connect(connection, reinterpret_cast<const sockaddr *>(&address), length) != 0 ||
        getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &who_size) != 0 || who.uid != geteuid() ||
        who.pid <= 0 || (heap = open_heap_of(static_cast<uint32_t>(who.pid))) < 0) {
        close(connection);
        return nullptr;
    }
    Peer &peer = *made;
    peer.pid = static_cast<uint32_t>(who.pid);
    peer.slot = slot;
    peer.connection = connection;
    peer.pidfd = static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0));
    peer.lock.init();
    for (Peer::OpenPipe &pipe : peer.pipes)
        pipe.file = -1;
    const int error = peer.heap.open(heap);
    close(heap);
    if (error == 0) {
        const shared::ProcessHeader &header = peer.heap.header();
        // In another PID namespace neither could tell whether the other's threads live.
        if (peer.pidfd >= 0 && header.pid == peer.pid && header.slot == slot &&
            header.is_closed.load() == 0 && header.pid_namespace == this->header().pid_namespace) {
            peer.refuses_copies.store(!can_copy_from(peer));
            epoll_event event = {.events = EPOLLIN, .data = {.ptr = &peer}};
            if (start_helper() == 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.pidfd, &event) == 0)
                return made.release();
        }
    }
    peer.heap.close();
    if (peer.pidfd >= 0)
        close(peer.pidfd);
    close(connection);
    peer.lock.destroy();
    return nullptr;
}

void Process::disconnect(Peer *peer)
{
    if (epoll_ >= 0)
        epoll_ctl(epoll_, EPOLL_CTL_DEL, peer->pidfd, nullptr);
    close_pipes(*peer);
    close(peer->pidfd);
    close(peer->connection);
    peer->heap.close();
    peer->lock.destroy();
    std::free(peer);
}

void Process::retire(Peer *peer)
{
    peer->next_retired = retired_;
    retired_ = peer;
    wake_helper();
}

void Process::disconnect_retired()
{
    common::Locked locked(peers_lock_);
    while (Peer *peer = retired_) {
        retired_ = peer->next_retired;
        disconnect(peer);
    }
}

Peer *Process::find_peer(uint32_t slot)
{
    if (slot == self.slot)
        return &self;
    if (slot >= shared::kProcessSlots)
        return nullptr;
    common::Locked locked(peers_lock_);
    Peer *peer = peers_[slot].load(std::memory_order_relaxed);
    if (peer != nullptr && (peer->is_dead.load() || peer->heap.header().is_closed.load() != 0)) {
        // Its slot may have a new owner. The old one goes with its last user.
        peers_[slot].store(nullptr);
        peer->is_dead.store(true);
        if (peer->references.load() == 0)
            retire(peer);
        peer = nullptr;
    }
    if (peer == nullptr) {
        peer = connect(slot);
        if (peer == nullptr)
            return nullptr;
        peers_[slot].store(peer);
    }
    peer->references.fetch_add(1);
    return peer;
}

void Process::release_peer(Peer *peer)
{
    if (peer->is_self)
        return;
    common::Locked locked(peers_lock_);
    // One that lives is kept, with its heap mapped, for the next who talks to it.
    if (peer->references.fetch_sub(1) == 1 && peer->is_dead.load() && peers_[peer->slot].load() != peer)
        retire(peer);
}

bool Process::write_byte(Peer &peer, const shared::PipeEnd &end)
{
    const shared::PipeEnd wanted = end;
    if (wanted.inode == 0)
        return false;
    const int error = errno;
    const char byte = 0;
    bool written = false;
    if (peer.is_self) {
        written = write(static_cast<int>(wanted.number), &byte, 1) == 1 || errno == EAGAIN;
        errno = error;
        return written;
    }
    common::Locked locked(peer.lock);
    int file = -1;
    for (const Peer::OpenPipe &pipe : peer.pipes)
        if (pipe.inode == wanted.inode && pipe.file >= 0)
            file = pipe.file;
    if (file < 0) {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/%u/fd/%u", peer.pid, wanted.number);
        // For reading too: without its reader a pipe would answer a write with a signal.
        file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        struct stat stat;
        // The number may stand for something else by now.
        if (file >= 0 &&
            (fstat(file, &stat) != 0 || !S_ISFIFO(stat.st_mode) || stat.st_ino != wanted.inode)) {
            close(file);
            file = -1;
        }
        if (file >= 0) {
            Peer::OpenPipe &place = peer.pipes[peer.next_pipe++ % Peer::kPipes];
            if (place.file >= 0)
                close(place.file);
            place = {.inode = wanted.inode, .file = file};
        }
    }
    if (file >= 0) {
        // Full: whoever reads has enough to wake up for.
        written = write(file, &byte, 1) == 1 || errno == EAGAIN;
    }
    errno = error;
    return written;
}

}  // namespace urxe
