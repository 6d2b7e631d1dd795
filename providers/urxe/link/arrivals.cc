// SPDX-License-Identifier: BSD-2-Clause
// Packets that arrive: from the sockets to the queue pairs that they are for.
#include <sys/epoll.h>

#include <bit>
#include <ctime>
#include <optional>

#include "link/endpoint.hh"
#include "process.hh"
#include "verbs/mcast.hh"

namespace urxe {
namespace {

/// Who waits longer than this for a queue pair lets the packet go, as a network may: a program may poll between
/// ibv_wr_start and ibv_wr_complete, and waits for itself then. The helper has more patience, as it may well wait for a
/// thread that is not running now; what it let go would have to be sent again.
constexpr uint32_t kPatience = 2048;
constexpr uint64_t kHelperPatienceNs = 200'000'000;

bool lock_patiently(shared::Lock &lock, bool is_helper)
{
    uint64_t give_up_at = 0;
    for (uint32_t round = 0;; ++round) {
        if (lock.try_lock())
            return true;
        if (round >= kPatience) {
            if (!is_helper)
                return false;
            const uint64_t now = now_ns();
            if (give_up_at == 0)
                give_up_at = now + kHelperPatienceNs;
            if (now >= give_up_at)
                return false;
        }
        shared::wait_a_little(round);
    }
}

void answer(const Touched &touched, bool all, bool is_helper)
{
    for (size_t i = 0; i < touched.count; ++i) {
        Qp &qp = *touched.qps[i];
        const bool is_locked = lock_patiently(qp.send_lock, is_helper);
        if (is_locked && qp.endpoint != nullptr && qp.endpoint->is_touched) {
            if (all)
                qp.endpoint->run();
            else if (qp.endpoint->has_responses)
                qp.endpoint->run_requests();
            // What it completed may have been all, or have failed.
            if (qp.state.load(std::memory_order_relaxed) != IBV_QPS_RTS)
                qp_run(qp);
        }
        if (is_locked)
            qp.send_lock.unlock();
    }
}

void let_go(Touched &touched)
{
    for (size_t i = 0; i < touched.count; ++i) {
        touched.qps[i]->is_listed = false;
        touched.qps[i]->users.fetch_sub(1, std::memory_order_release);
    }
    touched.count = 0;
}

/// Packets at the beginning of a run that are for the process with that slot, of which the first is one.
size_t count_for(const link::Link::Arrival &arrival, uint32_t slot)
{
    size_t count = 1;
    for (std::span<const uint8_t> rest = arrival.run.subspan(arrival.bytes.size());
         rest.size() >= wire::kBthSize;
         rest = rest.subspan(std::min(rest.size(), arrival.segment_size)), ++count) {
        wire::Bth bth;
        wire::decode(rest.data(), bth);
        if (shared::slot_of_qp(bth.dest_qpn) != slot)
            break;
    }
    return count;
}

/// Gives a packet to the QP of this process that has the number.
void give(Process &process, uint32_t qp_num, const link::Link::Arrival &arrival, const wire::Packet &packet,
          wire::Reason reason, Touched &touched, bool is_helper)
{
    Qp *found = process.qps.get(shared::index_of_qp(qp_num));
    if (found == nullptr)
        return process.link.counters.add(link::Counter::kBadQpn);
    Qp &qp = *found;
    if (!lock_patiently(qp.send_lock, is_helper))
        return;
    // No sooner: who has the lock may wait for those who work on this process's objects.
    if (const Access access(process.self); access && qp.endpoint != nullptr) {
        qp.endpoint->receive(packet, reason, arrival);
        if (qp.endpoint->is_touched && !qp.is_listed) {
            if (touched.count < Touched::kMost) {
                qp.users.fetch_add(1);
                qp.is_listed = true;
                touched.qps[touched.count++] = &qp;
            } else {
                qp.endpoint->is_touched = false;  // its peer asks again
            }
        }
    }
    qp.send_lock.unlock();
}

/// Gives a packet to whom it is for in this process.
void take(Process &process, const link::Link::Arrival &arrival, const wire::Packet &packet,
          wire::Reason reason, Touched &touched, bool is_helper)
{
    link::Counters &counters = process.link.counters;
    counters.add(link::Counter::kReceived);
    if (reason != wire::Reason::kNone)
        counters.add(link::Counter::kBadHeader);
    if (!wire::icrc_check(arrival.route.flow, arrival.bytes).has_value())
        return counters.add(link::Counter::kBadIcrc);
    if (packet.bth.dest_qpn != kMulticastQp)
        return give(process, packet.bth.dest_qpn, arrival, packet, reason, touched, is_helper);
    // Each process that has joined the group got a packet of its own.
    if (const Access access(process.self); access)
        mcast_for_each_own(
            process, std::bit_cast<ibv_gid>(arrival.route.flow.destination), arrival.route.interface,
            [&](uint32_t qp_num) { give(process, qp_num, arrival, packet, reason, touched, is_helper); });
}

/// Takes the first of a run, or passes as many on as are for another process. Gives how many that were.
size_t take_or_pass_on(Process &process, const link::Link::Arrival &arrival, Touched &touched, bool is_helper)
{
    if (arrival.bytes.empty()) {
        process.header().groups_changed.fetch_add(1);
        return 1;
    }
    wire::Packet packet{};
    const wire::Reason reason = wire::parse(arrival.bytes, packet);
    if (reason == wire::Reason::kShort) {
        process.link.counters.add(link::Counter::kBadHeader);
        return 1;
    }
    // The number that all members of a group have is nobody else's.
    const bool is_for_group = packet.bth.dest_qpn == kMulticastQp;
    if (wire::is_multicast(arrival.route.flow.destination) != is_for_group) {
        process.link.counters.add(link::Counter::kBadQpn);
        return 1;
    }
    if (const uint32_t slot = shared::slot_of_qp(packet.bth.dest_qpn);
        !is_for_group && slot != process.self.slot) {
        const size_t count = count_for(arrival, slot);
        process.link.pass_on(arrival, count, slot);
        return count;
    }
    take(process, arrival, packet, reason, touched, is_helper);
    return 1;
}

}  // namespace

int Process::open_link()
{
    if (const int error = start_helper(); error != 0)
        return error;
    common::Locked locked(helper_lock_);
    if (link.is_open())
        return 0;
    const int error = link.open(self.slot);
    if (link.is_open())
        watch_link(true);
    return error;
}

/// Whether this thread is the one that takes packets now.
bool Process::take_turn(bool is_helper)
{
    if (touched_lock_.try_lock())
        return true;
    // Whoever takes them may wait for a processor: sleep, so that one is free, even if this thread has a real-time priority.
    if (!is_helper) {
        constexpr uint32_t kTurn = 1024;
        constexpr timespec kMoment = {.tv_sec = 0, .tv_nsec = 1};
        if (refusals_.fetch_add(1, std::memory_order_relaxed) % kTurn == kTurn - 1)
            nanosleep(&kMoment, nullptr);
        return false;
    }
    constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 50'000};
    do {
        nanosleep(&kPause, nullptr);
        if (touched_lock_.try_lock())
            return true;
    } while (!helper_stops_.load(std::memory_order_relaxed));
    return false;
}

std::optional<size_t> Process::poll_link(bool is_helper, link::Link::Look look)
{
    if (!link.is_open())
        return 0;
    if (!take_turn(is_helper))
        return std::nullopt;
    std::optional<HeldBytes> held;
    const bool has_waited = touched_.count != 0;
    const size_t count = link.receive(look, [&](const link::Link::Arrival &arrival) {
        if (!held.has_value())
            held.emplace(*this);
        return take_or_pass_on(*this, arrival, touched_, is_helper);
    });
    if (!is_helper)
        looks_for_packets();
    // Outside of an Access, since what is carried out may wait for those who work on this process's objects.
    if (touched_.count != 0) {
        if (!held.has_value())
            held.emplace(*this);
        // A program that polls answers a message with one of its own as a rule: the acknowledgement waits for that, or for
        // the next look. If there is none, the helper notices soon.
        const bool waits = !has_waited && !is_helper && !helper_watches_.load(std::memory_order_relaxed);
        answer(touched_, !waits, is_helper);
        if (!waits)
            let_go(touched_);
    }
    touched_lock_.unlock();
    return count;
}

/// Whether a thread of the program polls without a pause: then the helper need not wake for each packet.
void Process::looks_for_packets()
{
    constexpr uint64_t kPauseNs = 100'000;
    constexpr uint32_t kMany = 32;
    const uint32_t looks = looks_.load(std::memory_order_relaxed) + 1;
    looks_.store(looks, std::memory_order_relaxed);
    if (!is_time_due())
        return;
    const uint64_t now = now_ns();
    const bool goes_on = now - polled_at_.load(std::memory_order_relaxed) < kPauseNs;
    polled_at_.store(now, std::memory_order_relaxed);
    if (!goes_on)
        looks_.store(0, std::memory_order_relaxed);
    if (looks >= kMany && helper_watches_.load(std::memory_order_relaxed)) {
        watch_link(false);
        wake_helper();  // which has to look now and then from here on
    }
}

void Process::expects_events()
{
    looks_.store(0, std::memory_order_relaxed);
    if (link.is_open() && !helper_watches_.load(std::memory_order_relaxed))
        watch_link(true);
}

/// Takes all packets that are there. False: another thread is at it, and may not have come far.
bool Process::drain_link(bool is_helper)
{
    // Not for ever: others may send faster than this process takes.
    constexpr int kRounds = 64;
    std::optional<size_t> count = 1;
    for (int round = 0; round < kRounds && count.has_value() && *count != 0; ++round)
        count = poll_link(is_helper, link::Link::Look::kAll);
    return count.has_value();
}

void Process::watch_link(bool on)
{
    common::Locked locked(watch_lock_);
    helper_watches_.store(on, std::memory_order_relaxed);
    // A socket that is only left out of the events would cost each packet a call all the same.
    for (const int socket : link.sockets()) {
        epoll_event event = {.events = EPOLLIN, .data = {.ptr = &link}};
        if (socket >= 0)
            epoll_ctl(epoll_, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, socket, &event);
    }
}

}  // namespace urxe
