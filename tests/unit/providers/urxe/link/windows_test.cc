// SPDX-License-Identifier: BSD-2-Clause
// Memory windows of one host that another writes and reads through.
#include <unistd.h>

#include <cstring>

#include "hosts.hh"

namespace {

using hosts::Port;
using hosts::Side;

class Windows : public hosts::Test {};

constexpr size_t kLength = 4000;  ///< bytes of the window, from 8192 on

/// The key of a window over the port's memory that the QP has bound.
uint32_t bind(Port &port, ibv_mw &window)
{
    const uint32_t key = ibv_inc_rkey(window.rkey);
    port.post(IBV_WR_BIND_MW, 0, 0, 0, [&](ibv_send_wr &request) {
        request.bind_mw.mw = &window;
        request.bind_mw.rkey = key;
        request.bind_mw.bind_info = {.mr = port.mr,
                                     .addr = reinterpret_cast<uintptr_t>(port.at(8192)),
                                     .length = kLength,
                                     .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    });
    port.expect_sent();
    window.rkey = key;
    return key;
}

void through(Port &port, ibv_wr_opcode opcode, uint32_t key, size_t offset, size_t length)
{
    port.post(opcode, 0, length, 8192 + offset, [&](ibv_send_wr &request) { request.wr.rdma.rkey = key; });
}

TEST_F(Windows, AreWrittenAndReadUntilInvalidated)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {});
            const auto key = side.exchange(uint32_t{0});
            hosts::fill(port.at(0), kLength, 1);
            through(port, IBV_WR_RDMA_WRITE, key, 0, kLength);
            port.expect_sent();
            std::memset(port.at(0), 0, kLength);
            through(port, IBV_WR_RDMA_READ, key, 0, kLength);
            port.expect_sent();
            EXPECT_TRUE(hosts::is_filled(port.at(0), kLength, 1));
            port.post(IBV_WR_SEND_WITH_INV, 0, 10, 0,
                      [&](ibv_send_wr &request) { request.invalidate_rkey = key; });
            port.expect_sent();
            through(port, IBV_WR_RDMA_WRITE, key, 0, 8);
            port.expect_sent(IBV_WC_REM_ACCESS_ERR);
            EXPECT_EQ(port.state(), IBV_QPS_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            ibv_mw *window = ibv_alloc_mw(port.pd, IBV_MW_TYPE_2);
            ASSERT_NE(window, nullptr);
            const uint32_t key = bind(port, *window);
            port.post_receive(0, 100);
            side.exchange(key);
            const ibv_wc completion = port.wait_received();
            EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
            EXPECT_EQ(completion.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
            EXPECT_EQ(completion.invalidated_rkey, key);
            side.meet();
            EXPECT_TRUE(hosts::is_filled(port.at(8192), kLength, 1));
            EXPECT_EQ(ibv_dealloc_mw(window), 0);
        });
}

TEST_F(Windows, EndWhereTheyEnd)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {});
            const auto key = side.exchange(uint32_t{0});
            through(port, IBV_WR_RDMA_WRITE, key, kLength - 4, 8);
            port.expect_sent(IBV_WC_REM_ACCESS_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            ibv_mw *window = ibv_alloc_mw(port.pd, IBV_MW_TYPE_2);
            ASSERT_NE(window, nullptr);
            side.exchange(bind(port, *window));
            side.meet();
            EXPECT_EQ(*port.at(8192 + kLength - 1), 0);
            EXPECT_EQ(ibv_dealloc_mw(window), 0);
        });
}

TEST_F(Windows, AreInvalidatedByTheirOwner)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {});
            const auto key = side.exchange(uint32_t{0});
            through(port, IBV_WR_RDMA_READ, key, 0, 8);
            port.expect_sent(IBV_WC_REM_ACCESS_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            ibv_mw *window = ibv_alloc_mw(port.pd, IBV_MW_TYPE_2);
            ASSERT_NE(window, nullptr);
            const uint32_t key = bind(port, *window);
            port.post(IBV_WR_LOCAL_INV, 0, 0, 0,
                      [&](ibv_send_wr &request) { request.invalidate_rkey = key; });
            port.expect_sent();
            side.exchange(key);
            side.meet();
            EXPECT_EQ(ibv_dealloc_mw(window), 0);
        });
}

TEST_F(Windows, AreBoundAndInvalidatedWhilePacketsArrive)
{
    constexpr size_t kSize = 60'000, kMost = 16;
    hosts::run(
        [](Side &side) {
            Port port(side, {.timeout = 15});
            port.post_receive(0, 8);
            side.meet();
            size_t under_way = 0;
            for (bool is_over = false; !is_over || under_way != 0;) {
                ibv_wc completion{};
                is_over = is_over || ibv_poll_cq(port.receive_cq, 1, &completion) == 1;
                for (; !is_over && under_way != kMost; ++under_way)
                    port.post(IBV_WR_RDMA_WRITE, 16, kSize, 16);
                if (ibv_poll_cq(port.send_cq, 1, &completion) == 1)
                    --under_way;
                ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
            }
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            ibv_mw *window = ibv_alloc_mw(port.pd, IBV_MW_TYPE_2);
            ASSERT_NE(window, nullptr);
            side.meet();
            for (int round = 0; round < 100; ++round) {
                // Once it has not polled for a while, the library's own thread takes the packets.
                usleep(2000);
                const uint32_t key = bind(port, *window);
                port.post(IBV_WR_LOCAL_INV, 0, 0, 0,
                          [&](ibv_send_wr &request) { request.invalidate_rkey = key; });
                port.expect_sent();
            }
            port.post(IBV_WR_SEND, 0, 8, 0);
            port.expect_sent();
            side.meet();
            EXPECT_EQ(ibv_dealloc_mw(window), 0);
        });
}

}  // namespace
