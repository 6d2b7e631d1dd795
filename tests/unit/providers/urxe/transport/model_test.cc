// SPDX-License-Identifier: BSD-2-Clause
// Random requests between endpoints over a bad network: whatever happens on the way, data arrive unchanged and
// in order, everything completes once and in order, and atomics are executed once.
// URXE_SCHEDULES makes more schedules than usual, URXE_SEED begins with another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "stream.hh"

namespace urxe::transport::test {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text != nullptr ? strtoull(text, nullptr, 10) : otherwise;
}

struct Schedule {
    wire::Transport transport = wire::Transport::kRc;
    Faults faults;
    unsigned pairs = 1;
    unsigned requests = 25;
};

/// Clients, each with a peer of its own in front of one memory.
void run(uint64_t seed, const Schedule &schedule)
{
    World world(seed, schedule.faults);
    Memory server_memory;
    const size_t shared = schedule.pairs * kPerStream;
    server_memory.bytes.resize(shared + 8);
    std::deque<Endpoint> endpoints;
    std::deque<Stream> streams;
    for (uint32_t pair = 0; pair < schedule.pairs; ++pair) {
        RequesterConfig requester = Endpoint::kRequester;
        requester.transport = schedule.transport;
        requester.mtu = world.chance(80) ? 256 : 512;
        requester.timeout_ns = 60'000;
        requester.retry_count = 255;
        requester.rnr_retry = kRnrRetryForEver;
        requester.max_rd_atomic = static_cast<uint8_t>(1 + world.below(6));
        requester.window = world.chance(50) ? kMaxWindow : static_cast<uint8_t>(1 + world.below(kMaxWindow));
        ResponderConfig responder = Endpoint::kResponder;
        responder.transport = schedule.transport;
        responder.mtu = requester.mtu;
        responder.max_dest_rd_atomic = requester.max_rd_atomic;
        for (uint32_t side = 0; side < 2; ++side) {
            // PSNs of both directions, some of which wrap soon.
            const uint32_t psns[] = {static_cast<uint32_t>(seed * 77 & wire::kPsnMask),
                                     static_cast<uint32_t>(wire::kPsnMask - seed % 40)};
            requester.first_psn = psns[side];
            responder.first_psn = psns[1 - side];
            requester.dest_qpn = responder.dest_qpn = pair * 2 + (1 - side);
            endpoints.emplace_back(requester, responder, side == 1 ? &server_memory : nullptr);
            world.add(endpoints.back());
        }
        Endpoint &client = endpoints[pair * 2];
        Endpoint &server = endpoints[pair * 2 + 1];
        client.memory.bytes.resize(kPerStream + 8);
        streams.emplace_back(world, client, server, pair * kPerStream, shared, requester);
        streams.emplace_back(world, server, client, 0, kPerStream, requester);
    }
    for (Stream &stream : streams)
        stream.start(schedule.requests);
    EXPECT_TRUE(world.run(20 * kSecond)) << "does not come to an end";
    uint64_t added = 0;
    for (size_t i = 0; i < streams.size(); ++i) {
        SCOPED_TRACE("stream " + std::to_string(i));
        streams[i].check();
        if (i % 2 == 0)
            added += streams[i].added();
    }
    EXPECT_EQ(server_memory.number(shared), added);
}

/// Calls test(seed) for some seeds; share: which part of the schedules, since some take longer.
template <typename Test>
void for_seeds(uint64_t share, Test &&test)
{
    const uint64_t count = std::max<uint64_t>(1, number_from("URXE_SCHEDULES", 150 / kSlower) / share);
    const uint64_t first = number_from("URXE_SEED", 1);
    for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("URXE_SEED=" + std::to_string(seed));
        test(seed);
    }
}

void run_all(const Schedule &schedule, uint64_t share)
{
    for_seeds(share, [&schedule](uint64_t seed) { run(seed, schedule); });
}

TEST(model, nothing_happens_to_packets)
{
    run_all({}, 1);
}

TEST(model, some_packets_get_lost)
{
    run_all({.faults = {.loss = 3}}, 1);
}

TEST(model, packets_come_twice)
{
    run_all({.faults = {.repeat = 20}}, 1);
}

TEST(model, packets_overtake_one_another)
{
    run_all({.faults = {.late = 20}}, 1);
}

TEST(model, packets_are_damaged)
{
    run_all({.faults = {.damage = 10}}, 1);
}

TEST(model, everything_happens_to_packets)
{
    run_all({.faults = {.loss = 3, .repeat = 5, .damage = 2, .late = 5}}, 1);
}

TEST(model, few_packets_arrive_as_they_should)
{
    run_all({.faults = {.loss = 20, .repeat = 20, .damage = 20, .late = 20}, .requests = 10}, 4);
}

TEST(model, over_xrc)
{
    run_all({.transport = wire::Transport::kXrc, .faults = {.loss = 3, .repeat = 3, .late = 3}}, 2);
}

TEST(model, many_pairs_share_memory)
{
    run_all({.faults = {.loss = 2, .repeat = 2, .damage = 1, .late = 2}, .pairs = 6}, 8);
}

TEST(model, many_requests)
{
    run_all({.faults = {.loss = 1, .late = 1}, .requests = 600}, 40);
}

/// A request that must fail, among others.
void run_flawed(uint64_t seed, const Faults &faults)
{
    World world(seed, faults);
    RequesterConfig requester = Endpoint::kRequester;
    ResponderConfig responder = Endpoint::kResponder;
    requester.timeout_ns = 60'000;
    requester.retry_count = 100;
    requester.rnr_retry = kRnrRetryForEver;
    requester.dest_qpn = 1;
    responder.dest_qpn = 0;
    Endpoint from(requester);
    Endpoint to(Endpoint::kRequester, responder);
    to.memory.bytes.resize(kPerStream + 8);
    world.add(from);
    world.add(to);
    Stream stream(world, from, to, 0, kPerStream, requester);
    stream.break_at(static_cast<uint32_t>(world.below(15)), static_cast<Flaw>(seed % kFlaws));
    stream.start(20);
    EXPECT_TRUE(world.run(20 * kSecond)) << "does not come to an end";
    stream.check_broken(faults.loss != 0);
}

TEST(model, a_request_fails)
{
    for_seeds(1, [](uint64_t seed) { run_flawed(seed, {.repeat = 20}); });
}

TEST(model, a_request_fails_and_packets_get_lost)
{
    for_seeds(1, [](uint64_t seed) { run_flawed(seed, {.loss = 10, .repeat = 5, .late = 5}); });
}

/// Messages that are not acknowledged: each that arrives is one of those that were sent.
void run_unreliable(uint64_t seed, wire::Transport transport, uint32_t most)
{
    World world(seed, {.loss = 5, .repeat = 5, .damage = 5, .late = 5});
    RequesterConfig requester = Endpoint::kRequester;
    ResponderConfig responder = Endpoint::kResponder;
    requester.transport = responder.transport = transport;
    requester.dest_qpn = 1;
    responder.dest_qpn = 0;
    Endpoint from(requester);
    Endpoint to(Endpoint::kRequester, responder);
    world.add(from);
    world.add(to);
    for (uint32_t i = 0; i < 100; ++i)
        world.after(world.below(1'000'000), [&] {
            const auto index = static_cast<uint32_t>(from.posted.size());
            const auto length = static_cast<uint32_t>(world.below(most + 1));
            to.post_receive(most);
            from.post({.op = Op::kSend,
                       .extra = Extra::kImmediate,
                       .length = length,
                       .extra_value = index,
                       .dest_qpn = 1,
                       .qkey = Endpoint::kResponder.qkey},
                      Bytes(length, static_cast<uint8_t>(index)));
            world.progress(from);
        });
    EXPECT_TRUE(world.run(kSecond));
    EXPECT_EQ(from.violation, "");
    EXPECT_EQ(to.violation, "");
    EXPECT_EQ(from.completions.size(), 100u);
    EXPECT_GT(to.received.size(), 20u);
    for (const Received &one : to.received) {
        ASSERT_EQ(one.receipt.status, IBV_WC_SUCCESS);
        ASSERT_LT(one.receipt.extra_value, from.posted.size());
        ASSERT_EQ(one.bytes, from.posted[one.receipt.extra_value].local);
    }
}

TEST(model, connected_messages_arrive_whole_or_not_at_all)
{
    for_seeds(2, [](uint64_t seed) { run_unreliable(seed, wire::Transport::kUc, 1200); });
}

TEST(model, datagrams_arrive_whole_or_not_at_all)
{
    for_seeds(2, [](uint64_t seed) { run_unreliable(seed, wire::Transport::kUd, 256); });
}

}  // namespace

}  // namespace urxe::transport::test
