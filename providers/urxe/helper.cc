// SPDX-License-Identifier: BSD-2-Clause
// The helper thread, and the requests that wait for a time: it sleeps until one is due, a peer calls or a peer dies.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "process.hh"
#include "verbs/cq.hh"
#include "verbs/qp.hh"

namespace urxe {
namespace {

/// Packets wait for the program no longer than this, once it has looked for them without a pause.
constexpr uint64_t kPollsNs = 1'000'000;

/// After that long another look is taken at a QP that was due while a thread worked with it.
constexpr uint64_t kHeldNs = 100'000;

/// Waits for events until a time, in now_ns(); kNever: without end.
int wait_until(int epoll, epoll_event (&events)[8], uint64_t deadline)
{
    if (deadline == kNever)
        return epoll_wait(epoll, events, 8, -1);
    const uint64_t now = now_ns();
    const uint64_t wait = deadline > now ? deadline - now : 0;
    const timespec timeout = {.tv_sec = static_cast<time_t>(wait / 1'000'000'000),
                              .tv_nsec = static_cast<long>(wait % 1'000'000'000)};
    const int count = epoll_pwait2(epoll, events, 8, &timeout, nullptr);
    if (count >= 0 || errno == EINTR)
        return count;
    // Before Linux 5.11 there are but milliseconds.
    return epoll_wait(epoll, events, 8,
                      static_cast<int>(std::min<uint64_t>((wait + 999'999) / 1'000'000, INT32_MAX)));
}

}  // namespace

int Process::start_helper()
{
    common::Locked locked(helper_lock_);
    if (epoll_ >= 0)
        return 0;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return errno;
    epoll_event woken = {.events = EPOLLIN, .data = {.ptr = nullptr}};
    epoll_event called = {.events = EPOLLIN, .data = {.ptr = &listener_}};
    int error = epoll_ctl(epoll, EPOLL_CTL_ADD, wake_read_, &woken) == 0 &&
                        epoll_ctl(epoll, EPOLL_CTL_ADD, listener_, &called) == 0
                    ? 0
                    : errno;
    if (error == 0) {
        epoll_ = epoll;
        // Signals are the program's.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(
            &helper_, nullptr,
            [](void *process) -> void * {
                static_cast<Process *>(process)->help();
                return nullptr;
            },
            this);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    if (error != 0) {
        epoll_ = -1;
        close(epoll);
        return error;
    }
    pthread_setname_np(helper_, "urxe");
    return 0;
}

int Process::watch_frames(int file, bool on)
{
    if (on)
        if (const int error = start_helper(); error != 0)
            return error;
    epoll_event frames = {.events = EPOLLIN, .data = {.ptr = &taps}};
    return epoll_ctl(epoll_, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, file, &frames) == 0 ? 0 : errno;
}

void Process::stop_helper()
{
    if (epoll_ < 0)
        return;
    helper_stops_.store(true);
    wake_helper();
    pthread_join(helper_, nullptr);
}

void Process::wake_helper()
{
    const char byte = 0;
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(wake_write_, &byte, 1);
    errno = error;
}

void Process::call_helper(Peer &peer)
{
    shared::ProcessHeader &header = peer.heap.header();
    if (header.helper_sleeps.load(std::memory_order_seq_cst) == 0)
        return;
    if (peer.is_self)
        wake_helper();
    else
        write_byte(peer, header.wake);
}

void Process::add_moderated(Cq &cq)
{
    common::Locked locked(moderated_lock_);
    if (std::exchange(cq.is_moderated, true))
        return;
    cq.next_moderated = moderated_;
    moderated_ = &cq;
}

void Process::remove_moderated(Cq &cq)
{
    common::Locked locked(moderated_lock_);
    for (Cq **place = &moderated_; *place != nullptr; place = &(*place)->next_moderated)
        if (*place == &cq) {
            *place = cq.next_moderated;
            cq.is_moderated = false;
            return;
        }
}

uint64_t Process::next_event()
{
    common::Locked locked(moderated_lock_);
    if (moderated_ == nullptr)
        return kNever;
    const uint64_t now = now_ns();
    uint64_t next = kNever;
    for (Cq *cq = moderated_; cq != nullptr; cq = cq->next_moderated)
        next = std::min(next, cq_event_due(*cq, now));
    return next;
}

void Process::help()
{
    while (!helper_stops_.load()) {
        if (link.is_open() && !helper_watches_.load() &&
            now_ns() - polled_at_.load(std::memory_order_relaxed) > kPollsNs) {
            watch_link(true);
            poll_link(true, link::Link::Look::kAll);
        }
        disconnect_retired();
        retry_waiting(true);
        attend();
        shared::ProcessHeader &header = this->header();
        uint64_t deadline = std::min(next_deadline(), next_event());
        if (link.is_open() && !helper_watches_.load())
            deadline = std::min(deadline, now_ns() + kPollsNs);
        helper_wakes_at_.store(deadline, std::memory_order_seq_cst);
        header.helper_sleeps.store(1, std::memory_order_seq_cst);
        if (header.has_attention.load(std::memory_order_seq_cst) != 0 || next_deadline() < deadline ||
            next_event() < deadline)
            deadline = 0;
        epoll_event events[8];
        const int count = wait_until(epoll_, events, deadline);
        header.helper_sleeps.store(0, std::memory_order_seq_cst);
        helper_wakes_at_.store(0, std::memory_order_seq_cst);
        for (int i = 0; i < count; ++i) {
            if (events[i].data.ptr == &link) {
                poll_link(true, link::Link::Look::kUntilFound);
                continue;
            }
            if (events[i].data.ptr == &listener_) {
                drop_callers();
                continue;
            }
            if (events[i].data.ptr == &taps) {
                taps.receive(*this);
                continue;
            }
            if (auto *peer = static_cast<Peer *>(events[i].data.ptr); peer != nullptr) {
                for (const int file : {peer->pidfd, peer->lifeline})
                    epoll_ctl(epoll_, EPOLL_CTL_DEL, file, nullptr);
                if (!std::exchange(peer->is_mourned, true))
                    peer_died(*peer);
                continue;
            }
            char bytes[256];
            while (read(wake_read_, bytes, sizeof bytes) == sizeof bytes) {
            }
        }
    }
}

void Process::peer_died(Peer &peer)
{
    {
        common::Locked locked(peers_lock_);
        peer.is_dead.store(true);
        std::atomic<Peer *> &place = peers_[peer.slot];
        if (place.load() == &peer) {
            place.store(nullptr);
            if (peer.references.load() == 0)
                retire(&peer);
        }
    }
    // It may have died between any two steps: what it left undone is done.
    common::Locked locked(lock);
    qps.for_each([&](Qp &qp) {
        qp_attend(qp);
        qp_lost_peer(qp, peer);
    });
    srqs.for_each(srq_attend);
    cqs.for_each(cq_lost_peer);
}

void Process::add_waiting(Qp &qp)
{
    {
        common::Locked locked(waiting_lock_);
        if (!qp.is_waiting) {
            qp.is_waiting = true;
            qp.next_waiting = waiting_;
            waiting_ = &qp;
            num_waiting.fetch_add(1);
        }
    }
    if (start_helper() == 0 && qp.retry_at < helper_wakes_at_.load(std::memory_order_seq_cst))
        wake_helper();
}

void Process::remove_waiting(Qp &qp)
{
    common::Locked locked(waiting_lock_);
    if (!qp.is_waiting)
        return;
    for (Qp **place = &waiting_; *place != nullptr; place = &(*place)->next_waiting)
        if (*place == &qp) {
            *place = qp.next_waiting;
            qp.is_waiting = false;
            num_waiting.fetch_sub(1);
            return;
        }
}

uint64_t Process::next_deadline()
{
    common::Locked locked(waiting_lock_);
    uint64_t deadline = kNever;
    for (const Qp *qp = waiting_; qp != nullptr; qp = qp->next_waiting)
        if (qp->retry_at < deadline)
            deadline = qp->retry_at;
    return deadline;
}

void Process::retry_waiting(bool is_helper)
{
    if (num_waiting.load(std::memory_order_relaxed) == 0)
        return;
    const uint64_t now = now_ns();
    // An answer that came in time counts, even if nobody has looked at it in time.
    if (link.is_open() && next_deadline() <= now && !drain_link(is_helper))
        return;
    // Each that is due is taken out, so that none is tried twice.
    for (;;) {
        Qp *due = nullptr;
        {
            common::Locked locked(waiting_lock_);
            for (Qp **place = &waiting_; *place != nullptr; place = &(*place)->next_waiting)
                if ((*place)->retry_at <= now) {
                    if (!(*place)->send_lock.try_lock()) {
                        // Who holds the lock tries by itself, and may need this processor for that.
                        (*place)->retry_at = now + kHeldNs;
                        continue;
                    }
                    due = *place;
                    *place = due->next_waiting;
                    due->is_waiting = false;
                    num_waiting.fetch_sub(1);
                    break;
                }
        }
        if (due == nullptr)
            return;
        qp_run(*due);
        due->send_lock.unlock();
    }
}

}  // namespace urxe
