// SPDX-License-Identifier: BSD-2-Clause
// Packets that someone forged, with a right ICRC: neither half of a queue pair breaks its contract with its
// host, and those from outside of the windows change nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "stream.hh"

namespace urxe::transport::test {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint32_t kFar = 0x300000;  // PSNs

RequesterConfig requester_of(uint32_t side)
{
    RequesterConfig config = Endpoint::kRequester;
    config.dest_qpn = 1 - side;
    config.timeout_ns = 60'000;
    config.retry_count = 50;
    config.rnr_retry = kRnrRetryForEver;
    return config;
}

ResponderConfig responder_of(uint32_t side)
{
    ResponderConfig config = Endpoint::kResponder;
    config.dest_qpn = 1 - side;
    return config;
}

/// Two endpoints with traffic in both directions, and someone who sees it and forges packets.
struct Attack {
    explicit Attack(uint64_t seed)
        : world(seed, {.loss = 1}),
          sides{Endpoint(requester_of(0), responder_of(0)), Endpoint(requester_of(1), responder_of(1))},
          streams{Stream(world, sides[0], sides[1], 0, kPerStream, requester_of(0)),
                  Stream(world, sides[1], sides[0], 0, kPerStream, requester_of(1))}
    {
        for (Endpoint &side : sides) {
            side.memory.bytes.resize(kPerStream + 8);
            world.add(side);
        }
        world.on_packet = [this](const Bytes &bytes) {
            if (seen.size() < 100)
                seen.push_back(bytes);
            else
                seen[world.below(seen.size())] = bytes;
        };
        for (Stream &stream : streams)
            stream.start(30);
    }

    /// Has forge() change packets that were seen, all through the traffic.
    template <typename Forge>
    void inject(Forge &&forge)
    {
        for (int i = 0; i < 300; ++i)
            world.after(world.below(400'000), [this, &forge] {
                if (seen.empty())
                    return;
                Bytes bytes = seen[world.below(seen.size())];
                forge(bytes);
                world.inject(std::move(bytes));
            });
    }

    World world;
    Endpoint sides[2];
    Stream streams[2];
    std::vector<Bytes> seen;
};

void set_psn(Bytes &bytes, uint32_t psn)
{
    wire::store_big<3>(bytes.data() + 9, psn);
}

TEST(hostile, packets_from_outside_of_the_windows_change_nothing)
{
    for (uint64_t seed = 1; seed <= 60 / kSlower && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Attack attack(seed);
        const auto forge = [&attack](Bytes &bytes) {
            // No PSN of the traffic gets that far.
            const uint64_t distance = kFar + attack.world.below(0x200000);
            const uint32_t psn = Endpoint::kRequester.first_psn;
            set_psn(bytes, static_cast<uint32_t>(attack.world.chance(50) ? psn + distance : psn - distance));
        };
        attack.inject(forge);
        EXPECT_TRUE(attack.world.run(20 * kSecond));
        for (const Stream &stream : attack.streams)
            stream.check();
    }
}

TEST(hostile, copies_of_old_packets_change_nothing)
{
    for (uint64_t seed = 1; seed <= 60 / kSlower && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Attack attack(seed);
        const auto forge = [](Bytes &) {};
        attack.inject(forge);
        EXPECT_TRUE(attack.world.run(20 * kSecond));
        for (const Stream &stream : attack.streams)
            stream.check();
    }
}

TEST(hostile, forged_packets_break_no_more_than_the_connection)
{
    unsigned broken = 0;
    for (uint64_t seed = 1; seed <= 200 / kSlower && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Attack attack(seed);
        World &world = attack.world;
        const auto forge = [&world](Bytes &bytes) {
            if (world.chance(30))
                bytes[0] = static_cast<uint8_t>(world.chance(80) ? world.below(0x20) : world.below(256));
            // Near PSNs, so that many are accepted.
            if (world.chance(50))
                set_psn(bytes, wire::load24(bytes.data() + 9) + static_cast<uint32_t>(world.below(9)) - 2);
            for (uint64_t flips = world.below(4); flips > 0; --flips)
                bytes[12 + world.below(std::min<size_t>(bytes.size() - 12, 40))] ^=
                    static_cast<uint8_t>(1u << world.below(8));
            if (world.chance(10))
                bytes.resize(world.below(bytes.size() + 8));
            else if (world.chance(10))
                bytes.resize(bytes.size() + 4 * world.below(100));
        };
        attack.inject(forge);
        EXPECT_TRUE(world.run(1000 * kSecond));
        for (const Endpoint &side : attack.sides) {
            EXPECT_EQ(side.violation, "");
            if (side.fault || side.requester.failed())
                ++broken;
        }
    }
    // Else the packets were not near enough.
    EXPECT_GT(broken, 50 / kSlower);
}

/// Nothing but requests that a program could never send: whatever the responder does with them, it stays within
/// what its host permits.
TEST(hostile, any_headers_keep_the_contract)
{
    std::mt19937_64 random(1);
    const auto below = [&random](uint64_t limit) { return random() % limit; };
    const Bytes data(4096, 0xaa);
    for (uint64_t round = 0; round < 20000 / kSlower; ++round) {
        Endpoint end;
        for (int i = 0; i < 3; ++i)
            end.post_receive(below(3) * 400);
        end.post({.op = Op::kRead, .length = 1000});
        end.post({.op = Op::kFetchAdd, .length = 8});
        end.post({.op = Op::kSend, .length = 300}, Bytes(300));
        end.requester.progress(0);
        for (int i = 0; i < 20; ++i) {
            wire::Packet packet{};
            packet.bth.opcode = static_cast<uint8_t>(below(0x1e));
            packet.bth.psn = static_cast<uint32_t>((wire::opcode_info(packet.bth.opcode).response
                                                        ? 99 + below(9)
                                                        : end.responder.expected_psn()) -
                                                   (below(8) == 0 ? below(4) : 0));
            packet.bth.ack_request = below(2) == 0;
            const size_t sizes[] = {0, 8, 44, 232, 256, 256, 256, 512};
            packet.payload = std::span(data).first(sizes[below(8)]);
            if (!wire::opcode_info(packet.bth.opcode).known() ||
                !wire::opcode_info(packet.bth.opcode).allows_payload(packet.payload.size()))
                continue;
            const uint64_t offsets[] = {0, 8, 16383, 16384, UINT64_MAX, 1ull << 63, 0x100000000, 3};
            const uint32_t lengths[] = {0, 8, 256, 300, 512, 1000, 0x80000000, 0xffffffff};
            packet.reth = {.address = end.memory.address + offsets[below(8)],
                           .rkey = end.memory.rkey + static_cast<uint32_t>(below(5) == 0),
                           .length = lengths[below(8)]};
            packet.atomic.address = packet.reth.address;
            packet.atomic.rkey = packet.reth.rkey;
            packet.feth = {.placement = static_cast<uint8_t>(below(16)),
                           .selectivity = static_cast<uint8_t>(below(4))};
            packet.aeth.syndrome = static_cast<uint8_t>(below(2) == 0 ? 31 : below(256));
            if (wire::opcode_info(packet.bth.opcode).response)
                end.requester.receive(packet, 0);
            else
                end.responder.receive(packet);
            if (below(3) == 0) {
                end.requester.progress(static_cast<uint64_t>(i));
                end.responder.progress();
                end.take_sent();
            }
        }
        ASSERT_EQ(end.violation, "") << round;
    }
}

}  // namespace

}  // namespace urxe::transport::test
