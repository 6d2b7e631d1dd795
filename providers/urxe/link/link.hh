// SPDX-License-Identifier: BSD-2-Clause
// RoCEv2 packets in UDP datagrams, to and from wherever shared memory does not reach (IBTA A17).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/lock.hh"
#include "link/counters.hh"
#include "shared/layout.hh"
#include "shared/lock.hh"
#include "wire/icrc.hh"
#include "wire/packet.hh"

namespace urxe::link {

/// Index of the loopback interface of every network namespace. Who is there is a process of this user, and gets datagrams to
/// groups without the network.
constexpr uint32_t kLoopback = 1;

/// Where a packet goes to or comes from, and what its IP header says besides.
struct Route {
    wire::Flow flow;
    uint32_t interface;  ///< index, for link-local and multicast addresses; 0: the kernel's choice
    uint32_t
        slot;  ///< of a process of this network namespace, which gets the packet past the network; 0: none
    uint8_t traffic_class;
    uint8_t hop_limit;

    bool operator==(const Route &) const = default;
};

/// The process's sockets for UDP port 4791, one for IPv4 and one for IPv6, and one by which processes of this network
/// namespace pass packets on that are for each other: the port has many owners, and the kernel does not know which of them
/// has which QP. Lives in zeroed memory.
class Link {
public:
    /// Opens the sockets for a process with a slot. 0 or a positive errno value; the log says what is in the way. Once.
    int open(uint32_t slot);
    void close();
    bool is_open() const { return is_open_.load(std::memory_order_acquire); }

    Counters counters;

    /// The descriptors that become readable when packets arrive. -1: there is none.
    static constexpr size_t kSockets = 3;
    const int (&sockets() const)[kSockets] { return sockets_; }
    /// Packets that came when a socket had no room for them, ever, modulo 2^32. Asks the kernel.
    uint32_t lost() const;

    /// Makes packets to a multicast group arrive that come in by that interface, or does not any more. 0 or a positive errno
    /// value. Without a socket nothing arrives anyway.
    int join(const wire::Address &group, uint32_t interface);
    void leave(const wire::Address &group, uint32_t interface);
    /// Tells the process that has the slot that this one has joined its first group.
    void tell_of_groups(uint32_t slot) { pass({}, {}, 0, slot); }

    /// Packets are sent in batches, from begin() to end(), by one thread at a time.
    void begin() { send_lock_.lock(); }
    /// Room for a packet of wire::kMaxPacketSize bytes, which stays until the next call.
    std::span<uint8_t> room();
    /// Sends the first `size` bytes of the room; their last four become the ICRC. In the order of calls. What the kernel
    /// does not take is lost.
    void send(const Route &route, size_t size);
    void end();

    /// A packet that has arrived; with it, those behind it that the kernel joined to it, each of `segment_size` but the last.
    /// Of no bytes: a process of this network namespace has joined its first group.
    struct Arrival {
        Route route;
        std::span<const uint8_t> bytes;
        std::span<const uint8_t> run;
        size_t segment_size;
    };
    /// Where the last packets came from the next are likely. The other sockets are looked at as well in each of many calls,
    /// and: where nothing came from that one; always.
    enum class Look { kLikely, kUntilFound, kAll };
    /// Calls taken(arrival) for packets that are there, up to some, which says how many of the run it took, at least one; and
    /// returns how often. By one thread at a time.
    template <class Taken>
    size_t receive(Look look, Taken taken)
    {
        size_t count = 0;
        constexpr unsigned kTurn = 16;
        const bool looks_at_all = ++rounds_ % kTurn == 0 || look == Look::kAll;
        const size_t first = busy_;
        for (size_t i = 0; i < kSockets; ++i) {
            if (i != 0 && !looks_at_all && (look == Look::kLikely || count != 0))
                break;
            const size_t socket = (first + i) % kSockets;
            const int filled = fill(socket);
            for (int n = 0; n < filled; ++n)
                for_each_packet(socket, n, [&](const Arrival &arrival) {
                    ++count;
                    return taken(arrival);
                });
            if (filled > 0)
                busy_ = socket;
        }
        return count;
    }

    /// Passes `count` packets, from this one on, on to the process that has the slot.
    void pass_on(const Arrival &arrival, size_t count, uint32_t slot);

private:
    static constexpr size_t kBatch = 64;    ///< packets that are sent at once
    static constexpr size_t kBuffers = 16;  ///< datagrams, or runs of them, that are read at once
    static constexpr size_t kBufferSize = 65536;

    struct Queued {
        Route route;
        uint32_t offset, size;
    };
    struct Memory;

    int open_udp(int family);
    int open_local(uint32_t slot);
    void flush();
    size_t run_length(size_t first) const;
    int fill(size_t socket);
    template <class Taken>
    void for_each_packet(size_t socket, int buffer, Taken taken);
    bool describe(size_t socket, int buffer, Arrival &arrival) const;
    int change_membership(const wire::Address &group, uint32_t interface, bool joins);
    void pass(const Route &route, std::span<const uint8_t> run, size_t segment_size, uint32_t slot);

    int sockets_[kSockets];
    std::atomic<bool> is_open_;
    bool cannot_segment_;
    int default_ttl_;
    shared::Lock send_lock_;
    size_t queued_, used_;
    size_t busy_;
    unsigned rounds_;
    std::atomic<uint64_t> full_[shared::kProcessSlots / 64];  ///< slots of processes that took no packets
    Memory *memory_;
};

template <class Taken>
void Link::for_each_packet(size_t socket, int buffer, Taken taken)
{
    Arrival arrival;
    if (!describe(socket, buffer, arrival))
        return;
    do {
        arrival.bytes = arrival.run.first(std::min(arrival.run.size(), arrival.segment_size));
        const size_t count = taken(arrival);
        arrival.run = arrival.run.subspan(std::min(arrival.run.size(), count * arrival.segment_size));
    } while (!arrival.run.empty());
}

}  // namespace urxe::link
