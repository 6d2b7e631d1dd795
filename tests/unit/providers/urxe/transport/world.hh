// SPDX-License-Identifier: BSD-2-Clause
// Pairs of endpoints joined by a network that loses, repeats, reorders, delays and damages packets, in a time of
// its own: all of it follows from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "endpoint.hh"

namespace urxe::transport::test {

/// How bad the network is: in percent of packets, and in nanoseconds.
struct Faults {
    unsigned loss = 0;
    unsigned repeat = 0;
    unsigned damage = 0;
    unsigned late = 0;  // delayed by up to late_ns more, beyond others
    uint64_t delay_ns = 1000;
    uint64_t late_ns = 20'000;
};

class World {
public:
    World(uint64_t seed, const Faults &faults) : random_(seed), faults_(faults) {}

    /// What the random generator gives, below limit.
    uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
    bool chance(unsigned percent) { return below(100) < percent; }

    /// Joins two endpoints; QPNs are indices of endpoints.
    void add(Endpoint &endpoint) { endpoints_.push_back(&endpoint); }

    /// Calls action at that time from now.
    void after(uint64_t delay, std::function<void()> action);

    /// Calls progress() of an endpoint and puts what it sent on the network.
    void progress(Endpoint &endpoint);

    /// A packet that comes to an endpoint from elsewhere. Its ICRC is made right.
    void inject(Bytes bytes);

    /// Sees each packet that is sent.
    std::function<void(const Bytes &)> on_packet;

    /// Lets time go on until nothing happens any more, or limit is over: false.
    bool run(uint64_t limit);

    uint64_t now() const { return now_; }
    uint64_t packets() const { return packets_; }

private:
    struct Event {
        uint64_t time;
        uint64_t order;
        std::function<void()> action;
        bool operator>(const Event &other) const
        {
            return time != other.time ? time > other.time : order > other.order;
        }
    };

    void transmit(Bytes bytes);
    void deliver(Bytes bytes);

    std::mt19937_64 random_;
    Faults faults_;
    std::vector<Endpoint *> endpoints_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    uint64_t now_ = 0;
    uint64_t order_ = 0;
    uint64_t packets_ = 0;
};

}  // namespace urxe::transport::test
