// SPDX-License-Identifier: BSD-2-Clause
// Reliable connections between two hosts: each operation, with every byte looked at.
#include <algorithm>
#include <cstring>

#include "hosts.hh"

namespace {

using hosts::Address;
using hosts::Port;
using hosts::Side;

constexpr size_t kGuard = 64;    ///< bytes behind a message that must stay
constexpr size_t kFrom = 0;      ///< where messages are sent from
constexpr size_t kTo = 3 << 19;  ///< and where they arrive
constexpr size_t kMost = 1 << 20;

size_t bytes_of(ibv_mtu mtu)
{
    return size_t{128} << mtu;
}

/// Lengths around those at which the number of packets changes.
std::vector<size_t> lengths(ibv_mtu mtu)
{
    const size_t packet = bytes_of(mtu);
    std::vector<size_t> all = {0, 1, 2, 3, 4, 5, 63, 64, 65};
    for (const size_t packets : {1, 2, 3, 16, 47, 48, 49, 64, 100})
        for (const size_t more : {-1, 0, 1})
            all.push_back(packet * packets + more);
    all.push_back(kMost);
    std::erase_if(all, [](size_t length) { return length > kMost; });
    return all;
}

struct Case {
    ibv_wr_opcode opcode;
    size_t length;
    uint32_t turn;
};

bool takes_receive(ibv_wr_opcode opcode)
{
    return opcode != IBV_WR_RDMA_WRITE && opcode != IBV_WR_RDMA_READ;
}

/// Sends a message, or fetches one.
void send(Port &port, const Case &c)
{
    const bool is_read = c.opcode == IBV_WR_RDMA_READ;
    hosts::fill(port.at(is_read ? kTo : kFrom), is_read ? 0 : c.length, c.turn);
    std::fill_n(port.at(kTo), c.length + kGuard, 0x5a);
    port.side.meet();
    port.post(c.opcode, is_read ? kTo : kFrom, c.length, is_read ? kFrom : kTo, [&](ibv_send_wr &request) {
        if (c.opcode == IBV_WR_SEND_WITH_IMM || c.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
            request.imm_data = c.turn;
    });
    const ibv_wc completion = port.wait_sent();
    ASSERT_EQ(completion.status, IBV_WC_SUCCESS) << c.opcode << ' ' << c.length;
    port.side.meet();
    if (is_read) {
        EXPECT_EQ(completion.byte_len, c.length);
        EXPECT_TRUE(hosts::is_filled(port.at(kTo), c.length, c.turn)) << "READ " << c.length;
        EXPECT_EQ(*port.at(kTo + c.length), 0x5a);
    }
}

void take(Port &port, const Case &c)
{
    const bool is_read = c.opcode == IBV_WR_RDMA_READ;
    const bool is_write = c.opcode == IBV_WR_RDMA_WRITE || c.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if (is_read)
        hosts::fill(port.at(kFrom), c.length, c.turn);
    std::fill_n(port.at(kTo), c.length + kGuard, 0x5a);
    if (takes_receive(c.opcode))
        port.post_receive(kTo, is_write ? 0 : c.length);
    port.side.meet();
    if (takes_receive(c.opcode)) {
        const ibv_wc completion = port.wait_received();
        ASSERT_EQ(completion.status, IBV_WC_SUCCESS) << c.opcode << ' ' << c.length;
        EXPECT_EQ(completion.byte_len, c.length);
        EXPECT_EQ(completion.opcode, is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
        if (c.opcode != IBV_WR_SEND) {
            EXPECT_EQ(completion.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
            EXPECT_EQ(completion.imm_data, c.turn);
        }
        EXPECT_EQ(completion.qp_num, port.qp->qp_num);
    }
    port.side.meet();
    if (!is_read) {
        EXPECT_TRUE(hosts::is_filled(port.at(kTo), c.length, c.turn)) << c.opcode << ' ' << c.length;
        EXPECT_EQ(*port.at(kTo + c.length), 0x5a);
    }
}

struct Way {
    Address address;
    ibv_mtu mtu;
    bool shares_receives;
};

class Messages : public hosts::Test, public testing::WithParamInterface<Way> {
protected:
    static void play(ibv_qp_type type, size_t most, const std::vector<ibv_wr_opcode> &opcodes)
    {
        const Way way = GetParam();
        std::vector<Case> cases;
        for (const size_t length : lengths(way.mtu))
            for (const ibv_wr_opcode opcode : opcodes)
                if (length <= most)
                    cases.push_back({opcode, length, static_cast<uint32_t>(cases.size() + 1)});
        const Port::Options options = {
            .type = type, .mtu = way.mtu, .address = way.address, .shares_receives = way.shares_receives};
        hosts::run(
            [&](Side &side) {
                Port port(side, options);
                for (const Case &c : cases)
                    if (!HasFatalFailure())
                        send(port, c);
            },
            [&](Side &side) {
                Port port(side, options);
                for (const Case &c : cases)
                    if (!HasFatalFailure())
                        take(port, c);
            });
    }
};

TEST_P(Messages, Reliable)
{
    play(
        IBV_QPT_RC, kMost,
        {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ});
}

TEST_P(Messages, Unreliable)
{
    // What the receiver's socket has no room for is lost; for that many packets it has. A plain WRITE tells nobody when
    // it has arrived.
    play(IBV_QPT_UC, 16 * bytes_of(GetParam().mtu),
         {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM});
}

INSTANTIATE_TEST_SUITE_P(Ways, Messages,
                         testing::Values(Way{Address::kIpv4, IBV_MTU_256, false},
                                         Way{Address::kIpv4, IBV_MTU_1024, true},
                                         Way{Address::kIpv4, IBV_MTU_4096, false},
                                         Way{Address::kGlobal, IBV_MTU_512, false},
                                         Way{Address::kGlobal, IBV_MTU_2048, true},
                                         Way{Address::kLinkLocal, IBV_MTU_1024, false}));

class Rc : public hosts::Test {};

TEST_F(Rc, Atomics)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {});
            side.meet();
            port.post(IBV_WR_ATOMIC_FETCH_AND_ADD, 64, 8, 8,
                      [](ibv_send_wr &request) { request.wr.atomic.compare_add = 5; });
            port.expect_sent();
            uint64_t was = 0;
            std::memcpy(&was, port.at(64), 8);
            EXPECT_EQ(was, 100u);
            for (const uint64_t expected : {7u, 105u})
                port.post(IBV_WR_ATOMIC_CMP_AND_SWP, 64, 8, 8, [&](ibv_send_wr &request) {
                    request.wr.atomic.compare_add = expected;
                    request.wr.atomic.swap = expected * 10;
                });
            port.expect_sent();
            port.expect_sent();
            std::memcpy(&was, port.at(64), 8);
            EXPECT_EQ(was, 105u);
            ibv_qp_ex &ex = *port.ex();
            ibv_wr_start(&ex);
            ex.wr_id = 1;
            ex.wr_flags = IBV_SEND_SIGNALED;
            ibv_wr_atomic_write(&ex, port.remote.rkey, port.remote.address + 16, "atomics!");
            ex.wr_id = 2;
            ibv_wr_flush(&ex, port.remote.rkey, port.remote.address, 64, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
            EXPECT_EQ(ibv_wr_complete(&ex), 0);
            EXPECT_EQ(port.wait_sent().opcode, IBV_WC_ATOMIC_WRITE);
            const ibv_wc flushed = port.wait_sent();
            EXPECT_EQ(flushed.opcode, IBV_WC_FLUSH);
            EXPECT_EQ(flushed.status, IBV_WC_SUCCESS);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            uint64_t value = 100;
            std::memcpy(port.at(8), &value, 8);
            side.meet();
            side.meet();
            std::memcpy(&value, port.at(8), 8);
            EXPECT_EQ(value, 1050u);
            EXPECT_EQ(std::memcmp(port.at(16), "atomics!", 8), 0);
        });
}

}  // namespace
