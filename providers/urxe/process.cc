// SPDX-License-Identifier: BSD-2-Clause
// The process as its peers see it: its slot and its heap; and who else works on its objects.
#include "process.hh"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "common/memory.hh"
#include "context.hh"
#include "slot_address.hh"
#include "verbs/cq.hh"
#include "verbs/mr.hh"
#include "verbs/qp.hh"
#include "verbs/srq.hh"

namespace urxe {
namespace {

pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;
Process *current;
bool watches_forks;

/// What a peer reads to see whether it may read memory.
const uint64_t kProbed = shared::kMagic;

/// The calling thread's accesses.
[[gnu::tls_model("initial-exec")]] __thread const Access *innermost;

uint64_t inode_of(const char *path)
{
    struct stat stat;
    return ::stat(path, &stat) == 0 ? stat.st_ino : 0;
}

}  // namespace

uint64_t now_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void Process::fence_others()
{
    const int error = errno;
    if (fences_by_itself || syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0)
        std::atomic_thread_fence(std::memory_order_seq_cst);
    errno = error;
}

Access::Access(Peer &peer) : peer_(peer), slot_(nullptr), outer_(innermost)
{
    shared::ProcessHeader &header = peer.heap.header();
    const uint32_t thread = shared::thread_id();
    uint64_t begin = 0;
    for (uint32_t i = thread, round = 0; slot_ == nullptr; ++i) {
        shared::AccessSlot &slot = header.access[i % shared::kAccessSlots];
        uint32_t free = 0;
        if (slot.thread.compare_exchange_strong(free, thread, std::memory_order_seq_cst)) {
            slot_ = &slot;
            break;
        }
        if (i - thread < shared::kAccessSlots)
            continue;
        shared::wait_a_little(round++);
        if (round % 1024 == 0 && free != 0 && shared::is_dead(free & ~shared::kRevoked))
            slot.thread.compare_exchange_strong(free, 0);
        if (round % 1024 == 0) {
            const uint64_t now = now_ns();
            begin = begin == 0 ? now : begin;
            if (now - begin > shared::kPatienceNs)
                return;
        }
    }
    innermost = this;
    // What is looked up from here on is looked up after the slot is seen to be taken, or the owner waits for it. On x86 the
    // exchange above sees to that.
#if !defined(__x86_64__) && !defined(__i386__)
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

Access::~Access()
{
    if (slot_ == nullptr)
        return;
    innermost = outer_;
    // At the end: a count at the beginning could show after the look-ups behind it, and the owner would take this access for
    // a later one.
    slot_->round.store(slot_->round.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    slot_->thread.store(0, std::memory_order_release);
}

shared::AccessSlot &Access::slot_of(const Peer &peer)
{
    const Access *access = innermost;
    while (&access->peer_ != &peer)
        access = access->outer_;
    return *access->slot_;
}

void Process::wait_for_accesses(shared::ProcessHeader &header)
{
    // A copy of the longest message takes that long at most.
    constexpr uint64_t kLongestCopyNs = 30'000'000'000;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const uint64_t begin = now_ns();
    for (shared::AccessSlot &slot : header.access) {
        uint32_t thread = slot.thread.load(std::memory_order_acquire);
        const uint32_t round = slot.round.load(std::memory_order_relaxed);
        for (uint32_t i = 0; thread != 0 && (thread & shared::kRevoked) == 0 &&
                             slot.round.load(std::memory_order_relaxed) == round;
             ++i) {
            shared::wait_a_little(i);
            if (i % 1024 == 1023) {
                if (shared::is_dead(thread) && slot.thread.compare_exchange_strong(thread, 0))
                    break;
                const uint64_t waited = now_ns() - begin;
                // It may be stopped, or be none of those who work here. It begins nothing more.
                if (waited > (shared::is_running(thread) ? kLongestCopyNs : shared::kPatienceNs) &&
                    slot.thread.compare_exchange_strong(thread, thread | shared::kRevoked)) {
                    slot.length.store(0, std::memory_order_seq_cst);
                    break;
                }
            }
            thread = slot.thread.load(std::memory_order_acquire);
        }
    }
}

void Process::wait_for_own_threads()
{
    const auto wait = [](const std::atomic<uint32_t> &is_busy) {
        for (uint32_t round = 0; is_busy.load(std::memory_order_acquire) != 0; ++round)
            shared::wait_a_little(round);
    };
    {
        common::Locked locked(lock);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        cqs.for_each([&](const Cq &cq) { wait(cq.is_busy); });
        qps.for_each([&](const Qp &qp) { wait(qp.is_busy); });
    }
    // Whoever takes packets has an Access, but accesses lie where a hostile neighbour may write.
    touched_lock_.lock();
    touched_lock_.unlock();
}

void Process::wait_for_held_bytes()
{
    for (uint32_t round = 0; holders_.load() != 0; ++round)
        shared::wait_a_little(round);
}

uint32_t Process::make_key(uint32_t index)
{
    // The finalizer of MurmurHash3, where each bit that goes in shows in all that come out.
    uint64_t hash = key_secret_ ^ index;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
    hash ^= hash >> 33;
    return index << 8 | ((next_key_.fetch_add(1, std::memory_order_relaxed) + hash) & 0xff);
}

int Process::claim_slot()
{
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener_ < 0)
        return errno;
    // 0 would give the QP numbers of management, the last the one of multicast.
    constexpr uint32_t kUsable = shared::kProcessSlots - 2;
    for (uint32_t i = 0; i < kUsable; ++i) {
        self.slot = 1 + (self.pid + i) % kUsable;
        sockaddr_un address;
        const socklen_t length = slot_address(self.slot, "", address);
        if (bind(listener_, reinterpret_cast<const sockaddr *>(&address), length) == 0)
            return listen(listener_, SOMAXCONN) == 0 ? 0 : errno;
        if (errno != EADDRINUSE)
            return errno;
    }
    __verbs_log(nullptr, VERBS_LOG_WARN,
                "urxe: %u processes of this network namespace use urxe, which is as many as can", kUsable);
    return EUSERS;
}

int Process::create(Process &process)
{
    process.listener_ = process.wake_read_ = process.wake_write_ = process.lifeline_ = process.epoll_ = -1;
    process.lock.init();
    process.peers_lock_.init();
    process.channels_lock.init();
    process.helper_lock_.init();
    process.watch_lock_.init();
    process.windows_lock.init();
    process.groups_lock.init();
    process.moderated_lock_.init();
    process.buffers.init();
    process.taps.init();
    process.self.lock.init();
    // Without it keys are as easy to guess as numbers that count up.
    static_cast<void>(getrandom(&process.key_secret_, sizeof process.key_secret_, GRND_NONBLOCK));
    process.self.process = &process;
    process.self.is_self = true;
    process.self.pid = static_cast<uint32_t>(getpid());
    process.self.pidfd = process.self.lifeline = -1;
    for (Peer::OpenPipe &pipe : process.self.pipes)
        pipe.file = -1;
    if (const int error = process.self.heap.create(); error != 0)
        return error;
    process.allocator.init(process.self.heap);
    if (const int error = process.claim_slot(); error != 0)
        return error;
    int wake[2];
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return errno;
    process.wake_read_ = wake[0];
    process.wake_write_ = wake[1];
    int lifeline[2];
    if (pipe2(lifeline, O_CLOEXEC) != 0)
        return errno;
    close(lifeline[0]);
    process.lifeline_ = lifeline[1];
    shared::ProcessHeader &header = process.header();
    header.pid = process.self.pid;
    header.slot = process.self.slot;
    struct {
        uint64_t instance;
        uint32_t pd;
    } random = {.instance = now_ns(), .pd = 0};
    static_cast<void>(getrandom(&random, sizeof random, GRND_NONBLOCK));
    header.instance = random.instance;
    process.next_pd.store(random.pd);
    header.user = geteuid();
    const long barriers = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    process.fences_by_itself = barriers < 0 || (barriers & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0 ||
                               syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0;
    header.pid_namespace = inode_of("/proc/self/ns/pid");
    header.wake = pipe_end(process.wake_write_);
    header.lifeline = pipe_end(process.lifeline_);
    header.probe = reinterpret_cast<uintptr_t>(&kProbed);
    return 0;
}

shared::PipeEnd pipe_end(int file)
{
    struct stat stat;
    if (fstat(file, &stat) != 0)
        return {};
    return {.inode = stat.st_ino, .number = static_cast<uint32_t>(file), .unused = 0};
}

Process *Process::acquire()
{
    pthread_mutex_lock(&current_lock);
    int error = 0;
    if (!watches_forks) {
        error = pthread_atfork(before_fork, after_fork, in_child);
        watches_forks = error == 0;
    }
    if (error == 0 && current == nullptr) {
        common::Allocated<Process> made(static_cast<Process *>(std::calloc(1, sizeof(Process))));
        error = made ? create(*made) : ENOMEM;
        if (error == 0)
            current = made.release();
        else if (made)
            made->destroy();
    }
    Process *process = current;
    if (error == 0)
        ++process->users_;
    pthread_mutex_unlock(&current_lock);
    return error == 0 ? process : common::null_with(error);
}

void Process::release()
{
    pthread_mutex_lock(&current_lock);
    const bool is_last = --users_ == 0;
    if (is_last && current == this)
        current = nullptr;
    pthread_mutex_unlock(&current_lock);
    if (!is_last)
        return;
    stop_helper();
    destroy();
    std::free(this);
}

void Process::before_fork()
{
    pthread_mutex_lock(&current_lock);
    if (current != nullptr)
        current->buffers.before_fork();
}

void Process::after_fork()
{
    if (current != nullptr)
        current->buffers.after_fork();
    pthread_mutex_unlock(&current_lock);
}

void Process::in_child()
{
    shared::forget_thread_id();
    // What there is belongs to the parent. The child may close it, or exit; a device that it opens is its own.
    if (current != nullptr) {
        current->become_inherited();
        current->buffers.after_fork();
    }
    current = nullptr;
    pthread_mutex_unlock(&current_lock);
}

void Process::become_inherited()
{
    self.heap.become_private();
    buffers.become_private();
    for (int *file : {&listener_, &lifeline_, &epoll_}) {
        if (*file >= 0)
            close(*file);
        *file = -1;
    }
    link.close();
    taps.close_inherited();
    // Threads that may have held them are not here, nor those that worked with objects.
    for (common::Mutex *mutex : {&lock, &peers_lock_, &channels_lock, &helper_lock_, &watch_lock_,
                                 &windows_lock, &groups_lock, &moderated_lock_, &self.lock})
        mutex->init();
    waiting_lock_.init();
    touched_lock_.unlock();
    touched_.count = 0;
    holders_.store(0);
    for (std::atomic<Peer *> &place : peers_)
        if (Peer *peer = place.load(); peer != nullptr)
            peer->lock.init();
    for (CompChannel *channel = channels; channel != nullptr; channel = channel->next)
        channel->lock.init();
    qps.for_each(qp_become_inherited);
    cqs.for_each(cq_become_inherited);
    srqs.for_each(srq_become_inherited);
}

void Process::destroy()
{
    if (self.heap.is_open())
        header().is_closed.store(1);
    disconnect_retired();
    for (std::atomic<Peer *> &peer : peers_)
        if (Peer *left = peer.load(); left != nullptr)
            disconnect(left);
    link.close();
    taps.destroy();
    for (const int file : {listener_, wake_read_, wake_write_, lifeline_, epoll_})
        if (file >= 0)
            close(file);
    allocator.destroy();
    self.heap.close();
    self.lock.destroy();
    peers_lock_.destroy();
    channels_lock.destroy();
    helper_lock_.destroy();
    watch_lock_.destroy();
    windows_lock.destroy();
    groups_lock.destroy();
    moderated_lock_.destroy();
    lock.destroy();
    buffers.destroy();
    for (IndexPool *pool : {&mr_indices, &qp_indices, &cq_indices, &srq_indices, &buffer_indices,
                            &count_indices, &group_indices, &pd_indices, &foreign_mr_indices})
        pool->destroy();
    group_members.destroy();
    regions.destroy();
    qps.destroy();
    cqs.destroy();
    srqs.destroy();
}

void Process::abandon(const ibv_context &context)
{
    taps.forget(*this, context);
    common::Locked locked(lock);
    bool was_any = mr_abandon(*this, to_context(const_cast<ibv_context *>(&context))->number);
    qps.for_each([&](Qp &qp) {
        if (qp.verbs.qp.context == &context) {
            qp_abandon(qp);
            was_any = true;
        }
    });
    srqs.for_each([&](Srq &srq) {
        if (srq.verbs.srq.context == &context)
            srqs.set(srq.index, nullptr);
    });
    cqs.for_each([&](Cq &cq) {
        if (cq.verbs.cq.context == &context) {
            remove_moderated(cq);
            cqs.set(cq.index, nullptr);
        }
    });
    if (was_any)
        wait_for_accesses();
}

void Process::call_attention(Peer &peer, uint32_t index)
{
    shared::ProcessHeader &header = peer.heap.header();
    header.attention[index / 64].fetch_or(uint64_t{1} << index % 64, std::memory_order_release);
    ask_to_attend(peer);
}

void Process::call_for_lost_regions(Peer &peer)
{
    peer.heap.header().has_lost_regions.store(1, std::memory_order_release);
    ask_to_attend(peer);
}

/// Has a peer look at what was marked for its attention.
void Process::ask_to_attend(Peer &peer)
{
    shared::ProcessHeader &header = peer.heap.header();
    header.has_attention.store(1, std::memory_order_seq_cst);
    if (!peer.is_self && header.helper_sleeps.load(std::memory_order_seq_cst) != 0)
        write_byte(peer, header.wake);
}

void Process::attend_all()
{
    common::Locked locked(lock);
    shared::ProcessHeader &header = this->header();
    header.has_attention.store(0, std::memory_order_seq_cst);
    if (header.has_lost_regions.load(std::memory_order_relaxed) != 0 &&
        header.has_lost_regions.exchange(0, std::memory_order_acquire) != 0)
        mr_forget_lost(*this);
    for (uint32_t word = 0; word < std::size(header.attention); ++word) {
        if (header.attention[word].load(std::memory_order_relaxed) == 0)
            continue;
        for (uint64_t bits = header.attention[word].exchange(0, std::memory_order_acquire); bits != 0;
             bits &= bits - 1) {
            const uint32_t index = word * 64 + static_cast<uint32_t>(__builtin_ctzll(bits));
            if (index < shared::QpTable::kCapacity) {
                if (Qp *qp = qps.get(index); qp != nullptr)
                    qp_attend(*qp);
            } else if (Srq *srq = srqs.get(index - shared::QpTable::kCapacity); srq != nullptr) {
                srq_attend(*srq);
            }
        }
    }
}

}  // namespace urxe
