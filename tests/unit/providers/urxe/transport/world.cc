// SPDX-License-Identifier: BSD-2-Clause
// The simulated network.
#include "world.hh"

#include <algorithm>

#include "wire/icrc.hh"

namespace urxe::transport::test {

namespace {

/// IPv6: there, a packet with few damaged bits never passes.
constexpr wire::Flow kFlow = {{0xfd, 1}, {0xfd, 2}, 0xc000, wire::kRoceUdpPort};

}  // namespace

void World::after(uint64_t delay, std::function<void()> action)
{
    events_.push({now_ + delay, order_++, std::move(action)});
}

void World::progress(Endpoint &endpoint)
{
    // A link that is full at times.
    endpoint.link_room = chance(10) ? below(8) : SIZE_MAX;
    const bool is_full = endpoint.link_room != SIZE_MAX;
    endpoint.requester.progress(now_);
    const bool has_more = endpoint.responder.progress();
    for (Bytes &bytes : endpoint.take_sent())
        transmit(std::move(bytes));
    if (is_full || has_more)
        after(below(200), [this, &endpoint] { progress(endpoint); });
}

void World::transmit(Bytes bytes)
{
    wire::icrc_seal(kFlow, bytes);
    ++packets_;
    if (on_packet)
        on_packet(bytes);
    if (chance(faults_.loss))
        return;
    for (int copies = chance(faults_.repeat) ? 2 : 1; copies > 0; --copies) {
        Bytes copy = bytes;
        if (chance(faults_.damage))
            for (uint64_t flips = 1 + below(3); flips > 0; --flips)
                copy[below(copy.size())] ^= static_cast<uint8_t>(1u << below(8));
        uint64_t delay = faults_.delay_ns;
        if (chance(faults_.late))
            delay += below(faults_.late_ns);
        after(delay, [this, copy = std::move(copy)]() mutable { deliver(std::move(copy)); });
    }
}

void World::inject(Bytes bytes)
{
    if (bytes.size() >= wire::kBthSize + wire::kIcrcSize)
        wire::icrc_seal(kFlow, bytes);
    deliver(std::move(bytes));
}

void World::deliver(Bytes bytes)
{
    wire::Packet packet{};
    const wire::Reason reason = wire::parse(bytes, packet);
    if (reason == wire::Reason::kShort || !wire::icrc_check(kFlow, bytes) ||
        packet.bth.dest_qpn >= endpoints_.size())
        return;
    Endpoint &endpoint = *endpoints_[packet.bth.dest_qpn];
    if (reason != wire::Reason::kNone)
        endpoint.responder.receive_malformed(packet.bth);
    else if (wire::opcode_info(packet.bth.opcode).response)
        endpoint.requester.receive(packet, now_);
    else
        endpoint.responder.receive(packet);
    // Whoever takes several packets before it goes on answers them at once.
    if (chance(50))
        progress(endpoint);
    else
        after(below(300), [this, &endpoint] { progress(endpoint); });
}

bool World::run(uint64_t limit)
{
    for (;;) {
        Endpoint *first = nullptr;
        for (Endpoint *endpoint : endpoints_) {
            const uint64_t deadline = endpoint->requester.next_deadline();
            if (deadline != kNever && (first == nullptr || deadline < first->requester.next_deadline()))
                first = endpoint;
        }
        if (first != nullptr && (events_.empty() || first->requester.next_deadline() <= events_.top().time)) {
            now_ = std::max(now_, first->requester.next_deadline());
            if (now_ > limit)
                return false;
            progress(*first);
            continue;
        }
        if (events_.empty())
            return true;
        now_ = events_.top().time;
        const std::function<void()> action = events_.top().action;
        events_.pop();
        if (now_ > limit)
            return false;
        action();
    }
}

}  // namespace urxe::transport::test
