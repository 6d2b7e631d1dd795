// SPDX-License-Identifier: BSD-2-Clause
// Other processes of the user on this host: finding them, mapping their heaps, waking them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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
#include "verbs/cq.hh"

namespace urxe {
namespace {

/// Maps the peer's heap. 0 or a positive errno value: ENOENT where it cannot be found.
int open_heap(Peer &peer)
{
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%u/fd", peer.pid);
    DIR *directory = opendir(path);
    if (directory == nullptr)
        return errno;
    int result = ENOENT;
    while (const dirent *entry = readdir(directory)) {
        char target[64];
        const ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);
        constexpr char kName[] = "/memfd:urxe (deleted)";
        if (length != sizeof kName - 1 || std::memcmp(target, kName, sizeof kName - 1) != 0)
            continue;
        const int file = openat(dirfd(directory), entry->d_name, O_RDWR | O_CLOEXEC);
        result = file < 0 ? errno : peer.heap.open(file);
        if (file >= 0)
            close(file);
        if (result != 0)
            continue;
        // A child of another has that one's heap too.
        const shared::ProcessHeader &header = peer.heap.header();
        if (header.pid == peer.pid && header.slot == peer.slot && header.is_closed.load() == 0)
            break;
        peer.heap.close();
        result = ENOENT;
    }
    closedir(directory);
    return result;
}

/// Opens a pipe of the peer's; -1: it is not there any more.
int open_pipe(const Peer &peer, const shared::PipeEnd &end, int flags)
{
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%u/fd/%u", peer.pid, end.number);
    const int file = open(path, flags | O_NONBLOCK | O_CLOEXEC);
    struct stat stat;
    // The number may stand for something else by now.
    if (file >= 0 && (fstat(file, &stat) != 0 || !S_ISFIFO(stat.st_mode) || stat.st_ino != end.inode)) {
        close(file);
        return -1;
    }
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

/// The process that has a slot, and its user. False: nobody has it.
bool ask_who(uint32_t slot, ucred &who)
{
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0)
        return false;
    sockaddr_un address;
    const socklen_t length = slot_address(slot, "", address);
    socklen_t size = sizeof who;
    const bool is_there = ::connect(connection, reinterpret_cast<const sockaddr *>(&address), length) == 0 &&
                          getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid > 0;
    close(connection);
    return is_there;
}

/// Says why requests to the process will fail. `error` is what the system said.
void tell_of_refusal(const ucred &who, int error)
{
    if (who.uid != geteuid())
        __verbs_log(nullptr, VERBS_LOG_WARN,
                    "urxe: process %d belongs to user %u and this one to user %u; only processes of one user "
                    "reach each other's memory",
                    who.pid, who.uid, geteuid());
    else if (error == EXDEV)
        __verbs_log(
            nullptr, VERBS_LOG_WARN,
            "urxe: process %d is in another PID namespace; only processes in one reach each other's memory",
            who.pid);
    else if (error == EACCES || error == EPERM)
        __verbs_log(
            nullptr, VERBS_LOG_WARN,
            "urxe: process %d does not let others of its user reach its memory (%s); it must be dumpable "
            "(prctl PR_SET_DUMPABLE 1, no set-user-ID program), kernel.yama.ptrace_scope must be 0 or "
            "the process must call prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY), and no seccomp filter "
            "may forbid process_vm_readv",
            who.pid, strerrordesc_np(error));
    else
        __verbs_log(nullptr, VERBS_LOG_WARN, "urxe: process %d cannot be reached: %s", who.pid,
                    strerrordesc_np(error));
}

/// Of the calling thread; null: none.
[[gnu::tls_model("initial-exec")]] __thread HeldBytes *held_bytes;

}  // namespace

HeldBytes::HeldBytes(Process &process) : process_(process), count_(0)
{
    held_bytes = this;
}

HeldBytes::~HeldBytes()
{
    held_bytes = nullptr;
    for (size_t i = 0; i < count_; ++i)
        process_.write_byte(process_.self, ends_[i]);
    if (count_ != 0)
        process_.holders_.fetch_sub(1);
}

bool HeldBytes::add(const shared::PipeEnd &end)
{
    if (count_ == kMost)
        return false;
    if (count_ == 0)
        process_.holders_.fetch_add(1);
    ends_[count_++] = end;
    return true;
}

Peer *Process::connect(uint32_t slot)
{
    drop_callers();
    ucred who;
    if (!ask_who(slot, who))
        return common::null_with(ESRCH);
    common::Allocated<Peer> made(static_cast<Peer *>(std::calloc(1, sizeof(Peer))));
    if (!made)
        return nullptr;
    Peer &peer = *made;
    peer.process = this;
    peer.pid = static_cast<uint32_t>(who.pid);
    peer.slot = slot;
    peer.lifeline = -1;
    for (Peer::OpenPipe &pipe : peer.pipes)
        pipe.file = -1;
    int error = who.uid != geteuid() ? EPERM : 0;
    peer.pidfd = static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0));
    if (error == 0 && peer.pidfd < 0)
        error = errno;
    if (error == 0)
        error = open_heap(peer);
    if (error == 0) {
        const shared::ProcessHeader &header = peer.heap.header();
        peer.lifeline = open_pipe(peer, header.lifeline, O_RDONLY);
        // In another PID namespace neither could tell whether the other's threads live.
        if (header.pid_namespace != this->header().pid_namespace)
            error = EXDEV;
        else if (peer.lifeline < 0)
            error = ESRCH;
        else if (error = start_helper(); error == 0) {
            if (!can_copy_from(peer)) {
                peer.refuses_copies.store(true);
                tell_of_refusal(who, errno);
            }
            epoll_event event = {.events = EPOLLIN, .data = {.ptr = &peer}};
            for (const int file : {peer.pidfd, peer.lifeline})
                if (epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event) != 0)
                    error = errno;
        }
    }
    peer.lock.init();
    if (error == 0)
        return made.release();
    tell_of_refusal(who, error);
    disconnect(made.release());
    // It has died since it was asked: its files are not there any more.
    return common::null_with(error == ENOENT ? ESRCH : error);
}

void Process::disconnect(Peer *peer)
{
    for (const int file : {peer->pidfd, peer->lifeline})
        if (file >= 0) {
            if (epoll_ >= 0)
                epoll_ctl(epoll_, EPOLL_CTL_DEL, file, nullptr);
            close(file);
        }
    close_pipes(*peer);
    unmap_buffers(*peer);
    if (peer->heap.is_open())
        peer->heap.close();
    peer->lock.destroy();
    std::free(peer);
}

void Process::drop_callers()
{
    // They had no more to say than that they asked; but there is room for so many only.
    for (int caller; (caller = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
        close(caller);
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
        return common::null_with(ESRCH);
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
    if (peer.is_self && held_bytes != nullptr && held_bytes->add(wanted))
        return true;
    const int error = errno;
    const char byte = 0;
    bool written = false;
    if (peer.is_self) {
        // Whatever peers say, to no file but its own.
        common::Locked list(channels_lock);
        for (const CompChannel *channel = channels; channel != nullptr; channel = channel->next)
            if (channel->end.inode == wanted.inode)
                written = write(channel->write_end, &byte, 1) == 1 || errno == EAGAIN;
        errno = error;
        return written;
    }
    common::Locked locked(peer.lock);
    int file = -1;
    for (const Peer::OpenPipe &pipe : peer.pipes)
        if (pipe.inode == wanted.inode && pipe.file >= 0)
            file = pipe.file;
    if (file < 0) {
        // For reading too: without its reader a pipe would answer a write with a signal.
        file = open_pipe(peer, wanted, O_RDWR);
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
