// SPDX-License-Identifier: BSD-2-Clause
// Many messages at once between two hosts: of several queue pairs and processes, asleep, over a bad network.
#include <unistd.h>

#include <cstring>
#include <memory>

#include "hosts.hh"

namespace {

using hosts::Port;
using hosts::Side;

class Streams : public hosts::Test {};

constexpr size_t kSlots = 8;
constexpr size_t kSlotSize = 65536;

size_t length_of(uint32_t turn)
{
    return (turn * 7919) % kSlotSize;
}

/// A process sends `count` messages of many lengths, at most kSlots at once.
void stream(Port &port, uint32_t count)
{
    for (uint32_t turn = 0; turn < count + kSlots; ++turn) {
        if (turn >= kSlots) {
            const ibv_wc completion = port.wait_sent();
            ASSERT_EQ(completion.status, IBV_WC_SUCCESS) << turn;
        }
        if (turn < count) {
            const size_t offset = turn % kSlots * kSlotSize;
            hosts::fill(port.at(offset), length_of(turn), turn);
            port.post(IBV_WR_SEND_WITH_IMM, offset, length_of(turn), 0,
                      [&](ibv_send_wr &request) { request.imm_data = turn; });
        }
    }
}

/// The process that takes them, and looks at each byte.
void drain(Port &port, uint32_t count)
{
    for (uint32_t turn = 0; turn < count; ++turn) {
        const ibv_wc completion = port.wait_received();
        ASSERT_EQ(completion.status, IBV_WC_SUCCESS) << turn;
        ASSERT_EQ(completion.imm_data, turn);
        ASSERT_EQ(completion.byte_len, length_of(turn));
        const size_t offset = turn % kSlots * kSlotSize;
        ASSERT_TRUE(hosts::is_filled(port.at(offset), length_of(turn), turn)) << turn;
        if (turn + kSlots < count)
            port.post_receive(offset, kSlotSize);
    }
}

void post_receives(Port &port)
{
    for (size_t slot = 0; slot < kSlots; ++slot)
        port.post_receive(slot * kSlotSize, kSlotSize);
}

void run_stream(uint32_t count, const Port::Options &options, int pairs)
{
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            side.meet();
            stream(port, count);
            side.meet();
        },
        [&](Side &side) {
            Port port(side, options);
            post_receives(port);
            side.meet();
            drain(port, count);
            side.meet();
        },
        pairs);
}

TEST_F(Streams, OfOneProcess)
{
    run_stream(400, {.mtu = IBV_MTU_4096}, 1);
}

TEST_F(Streams, OfSeveralProcessesEach)
{
    // The kernel gives packets to any of them, who pass them on.
    run_stream(200, {.mtu = IBV_MTU_1024}, 4);
}

TEST_F(Streams, OfSeveralQueuePairs)
{
    constexpr int kQps = 6;
    constexpr uint32_t kCount = 60;
    hosts::run(
        [](Side &side) {
            std::vector<std::unique_ptr<Port>> ports;
            ports.reserve(kQps);
            for (int i = 0; i < kQps; ++i)
                ports.push_back(std::make_unique<Port>(side, Port::Options{.type = IBV_QPT_RC}));
            side.meet();
            for (uint32_t turn = 0; turn < kCount; ++turn) {
                for (const auto &port : ports) {
                    hosts::fill(port->at(0), length_of(turn), turn);
                    port->post(IBV_WR_RDMA_WRITE_WITH_IMM, 0, length_of(turn), 0,
                               [&](ibv_send_wr &request) { request.imm_data = turn; });
                }
                for (const auto &port : ports)
                    port->expect_sent();
                side.meet();
                side.meet();
            }
        },
        [](Side &side) {
            std::vector<std::unique_ptr<Port>> ports;
            ports.reserve(kQps);
            for (int i = 0; i < kQps; ++i) {
                ports.push_back(std::make_unique<Port>(side, Port::Options{.type = IBV_QPT_RC}));
                for (uint32_t turn = 0; turn < kCount; ++turn)
                    ports.back()->post_receive(0, 0);
            }
            side.meet();
            for (uint32_t turn = 0; turn < kCount; ++turn) {
                side.meet();
                for (const auto &port : ports) {
                    EXPECT_EQ(port->wait_received().imm_data, turn);
                    EXPECT_TRUE(hosts::is_filled(port->at(0), length_of(turn), turn));
                }
                side.meet();
            }
        });
}

/// Waits for a completion asleep.
ibv_wc sleep_for(Port &port, ibv_cq *cq)
{
    ibv_wc completion{};
    EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
    while (ibv_poll_cq(cq, 1, &completion) == 0) {
        ibv_cq *which = nullptr;
        void *context = nullptr;
        EXPECT_EQ(ibv_get_cq_event(port.channel, &which, &context), 0);
        ibv_ack_cq_events(which, 1);
        EXPECT_EQ(ibv_req_notify_cq(which, 0), 0);
    }
    return completion;
}

TEST_F(Streams, AreAnsweredAsleep)
{
    constexpr uint32_t kCount = 100;
    const Port::Options options = {.uses_events = true};
    const auto play = [&](Side &side) {
        Port port(side, options);
        port.post_receive(kSlotSize, kSlotSize);
        side.meet();
        for (uint32_t turn = 0; turn < kCount; ++turn) {
            const bool is_first = side.host() == 0;
            if (is_first) {
                hosts::fill(port.at(0), length_of(turn), turn);
                port.post(IBV_WR_SEND, 0, length_of(turn), 0);
            }
            const ibv_wc received = sleep_for(port, port.receive_cq);
            ASSERT_EQ(received.status, IBV_WC_SUCCESS);
            ASSERT_EQ(received.byte_len, length_of(turn));
            ASSERT_TRUE(hosts::is_filled(port.at(kSlotSize), length_of(turn), turn));
            std::memcpy(port.at(0), port.at(kSlotSize), length_of(turn));
            port.post_receive(kSlotSize, kSlotSize);
            if (!is_first)
                port.post(IBV_WR_SEND, 0, length_of(turn), 0);
            ASSERT_EQ(sleep_for(port, port.send_cq).status, IBV_WC_SUCCESS);
        }
        side.meet();
    };
    hosts::run(play, play);
}

/// A network that loses, doubles and reorders, for the time of a test.
class BadNetwork : public hosts::Test {
protected:
    void SetUp() override
    {
        hosts::Test::SetUp();
        if (IsSkipped())
            return;
        for (int host = 0; host < 2; ++host)
            if (hosts::shell(host, std::string("tc qdisc replace dev ") + (host == 0 ? "va" : "vb") +
                                       " root netem limit 10000 delay 100us loss 2% duplicate 1% reorder 99% "
                                       "2>/dev/null") != 0) {
                GTEST_SKIP() << "`tc` is missing, or the kernel has no netem";
            }
    }
    void TearDown() override
    {
        if (IsSkipped())
            return;
        hosts::shell(0, "tc qdisc del dev va root");
        hosts::shell(1, "tc qdisc del dev vb root");
    }
};

TEST_F(BadNetwork, DeliversStreams)
{
    run_stream(300, {.mtu = IBV_MTU_1024, .timeout = 13}, 1);
}

TEST_F(BadNetwork, DeliversReadsAndAtomics)
{
    constexpr uint64_t kCount = 200;
    const Port::Options options = {.timeout = 13};
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            side.meet();
            for (uint64_t turn = 0; turn < kCount; ++turn) {
                port.post(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 0,
                          [](ibv_send_wr &request) { request.wr.atomic.compare_add = 3; });
                port.post(IBV_WR_RDMA_READ, 64, 20000, 64);
                port.expect_sent();
                port.expect_sent();
                uint64_t was = 0;
                std::memcpy(&was, port.at(0), sizeof was);
                ASSERT_EQ(was, turn * 3);
                ASSERT_TRUE(hosts::is_filled(port.at(64), 20000, 9));
                std::memset(port.at(64), 0, 20000);
            }
            side.meet();
        },
        [&](Side &side) {
            Port port(side, options);
            hosts::fill(port.at(64), 20000, 9);
            side.meet();
            side.meet();
        });
}

}  // namespace
