// SPDX-License-Identifier: BSD-2-Clause
// Connections between two hosts that fail: by their program, by their peer, by the network.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>

#include "hosts.hh"

namespace {

using hosts::Port;
using hosts::Side;

class Failures : public hosts::Test {};

TEST_F(Failures, ReceiverNotReady)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {.rnr_retry = 2, .min_rnr_timer = 1});
            port.post(IBV_WR_SEND, 0, 5000, 0);
            port.post(IBV_WR_SEND, 0, 8, 0);
            port.expect_sent(IBV_WC_RNR_RETRY_EXC_ERR);
            port.expect_sent(IBV_WC_WR_FLUSH_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {.rnr_retry = 2, .min_rnr_timer = 1});
            side.meet();
            EXPECT_EQ(port.state(), IBV_QPS_RTS);
        });
}

TEST_F(Failures, ReceiverReadyLater)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {});
            hosts::fill(port.at(0), 5000, 3);
            port.post(IBV_WR_SEND, 0, 5000, 0);
            side.meet();
            port.expect_sent();
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            side.meet();
            usleep(30'000);
            port.post_receive(0, 5000);
            EXPECT_EQ(port.wait_received().byte_len, 5000u);
            EXPECT_TRUE(hosts::is_filled(port.at(0), 5000, 3));
            side.meet();
        });
}

TEST_F(Failures, PeerKilled)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {.timeout = 12, .retry_count = 2});
            port.post_receive(0, 100);
            side.meet();
            usleep(20'000);
            for (int i = 0; i < 3; ++i)
                port.post(IBV_WR_RDMA_WRITE, 0, 3000, 0);
            port.expect_sent(IBV_WC_RETRY_EXC_ERR);
            port.expect_sent(IBV_WC_WR_FLUSH_ERR);
            port.expect_sent(IBV_WC_WR_FLUSH_ERR);
            EXPECT_EQ(port.wait_received().status, IBV_WC_WR_FLUSH_ERR);
            EXPECT_EQ(port.state(), IBV_QPS_ERR);
        },
        [](Side &side) {
            Port port(side, {});
            side.meet();
            raise(SIGKILL);
        },
        1, SIGKILL);
}

TEST_F(Failures, RemoteAccess)
{
    for (const bool is_read : {false, true})
        hosts::run(
            [&](Side &side) {
                Port port(side, {});
                port.post(is_read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 8, 0,
                          [](ibv_send_wr &request) { request.wr.rdma.rkey ^= 0x100; });
                port.post(IBV_WR_RDMA_WRITE, 0, 8, 0);
                port.expect_sent(IBV_WC_REM_ACCESS_ERR);
                port.expect_sent(IBV_WC_WR_FLUSH_ERR);
                side.meet();
            },
            [](Side &side) {
                Port port(side, {});
                port.post_receive(0, 8);
                side.meet();
                EXPECT_EQ(port.wait_received().status, IBV_WC_WR_FLUSH_ERR);
                EXPECT_EQ(port.state(), IBV_QPS_ERR);
                ibv_async_event event;
                ASSERT_EQ(ibv_get_async_event(port.context, &event), 0);
                ibv_ack_async_event(&event);
                if (event.event_type == IBV_EVENT_COMM_EST) {
                    ASSERT_EQ(ibv_get_async_event(port.context, &event), 0);
                    ibv_ack_async_event(&event);
                }
                EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
            });
}

TEST_F(Failures, MessageTooLong)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {});
            side.meet();
            port.post(IBV_WR_SEND, 0, 5000, 0);
            port.expect_sent(IBV_WC_REM_INV_REQ_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {});
            port.post_receive(0, 4999);
            side.meet();
            EXPECT_EQ(port.wait_received().status, IBV_WC_LOC_LEN_ERR);
            side.meet();
        });
}

TEST_F(Failures, ToldToErr)
{
    hosts::run(
        [](Side &side) {
            Port port(side, {.rnr_retry = 7, .min_rnr_timer = 30});
            for (int i = 0; i < 10; ++i)
                port.post(IBV_WR_SEND, 0, 8000, 0);
            ibv_qp_attr attr{};
            attr.qp_state = IBV_QPS_ERR;
            EXPECT_EQ(ibv_modify_qp(port.qp, &attr, IBV_QP_STATE), 0);
            for (int i = 0; i < 10; ++i)
                port.expect_sent(IBV_WC_WR_FLUSH_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, {.min_rnr_timer = 30});
            side.meet();
        });
}

/// Posts requests for many packets, and waits for the first to be done: packets have arrived that are not answered yet, and
/// more are under way.
void be_in_the_middle(Port &port)
{
    for (int i = 0; i < 16; ++i)
        port.post(i % 2 == 0 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 0, 100'000, 0);
    port.expect_sent();
}

TEST_F(Failures, DestroyedWithRequestsUnderWay)
{
    const auto program = [](Side &side) {
        Port lasting(side, {});
        for (int round = 0; round < 30; ++round) {
            auto port = std::make_unique<Port>(side, Port::Options{});
            if (side.host() == 0) {
                be_in_the_middle(*port);
                port.reset();
                // Whoever has something to wait for comes past those that wait.
                lasting.post(IBV_WR_RDMA_READ, 0, 100'000, 0);
                lasting.expect_sent();
            }
            side.meet();
        }
    };
    hosts::run(program, program);
}

/// Who sent what was received is told of it, however soon the receiver leaves.
TEST_F(Failures, DestroyedRightAfterTheLastReceive)
{
    const auto program = [](Side &side) {
        for (int round = 0; round < 30; ++round) {
            Port port(side, {});
            if (side.host() == 0) {
                port.post(IBV_WR_SEND, 0, 8, 0);
                port.expect_sent();
            } else {
                port.post_receive(0, 8);
                // Without a pause, so that answers wait for what the program may have to say.
                ibv_wc wc{};
                while (ibv_poll_cq(port.receive_cq, 1, &wc) == 0) {
                }
                EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            }
        }
    };
    hosts::run(program, program);
}

TEST_F(Failures, ContextClosedWithRequestsUnderWay)
{
    const auto program = [](Side &side) {
        Port lasting(side, {});
        for (int round = 0; round < 10; ++round) {
            // What belongs to it is never destroyed, but the device is closed.
            Port &forgotten = *new Port(side, {});
            if (side.host() == 0) {
                be_in_the_middle(forgotten);
                EXPECT_EQ(ibv_close_device(forgotten.context), 0);
                for (int i = 0; i < 20; ++i) {
                    lasting.post(IBV_WR_RDMA_READ, 0, 5000, 0);
                    lasting.expect_sent();
                }
            }
            side.meet();
        }
    };
    hosts::run(program, program);
}

TEST_F(Failures, ChildClosesWhatPacketsArrivedFor)
{
    const auto program = [](Side &side) {
        auto port = std::make_unique<Port>(side, Port::Options{});
        port->post_receive(0, 8);
        side.meet();
        if (side.host() == 0)
            port->post(IBV_WR_SEND, 0, 8, 0);
        const ibv_wc completion = side.host() == 0 ? port->wait_sent() : port->wait_received();
        EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
        // Its acknowledgement may be still to be sent.
        const pid_t child = fork();
        if (child == 0) {
            port.reset();
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        side.meet();
        port->post(IBV_WR_RDMA_WRITE, 0, 8, 0);
        port->expect_sent();
        side.meet();
    };
    hosts::run(program, program);
}

TEST_F(Failures, ConnectedAnewAfterReset)
{
    hosts::run(
        [](Side &side) {
            for (int round = 0; round < 5; ++round) {
                Port port(side, {.first_psn = static_cast<uint32_t>(round) * 1000});
                hosts::fill(port.at(0), 9000, static_cast<uint32_t>(round));
                side.meet();
                port.post(IBV_WR_SEND, 0, 9000, 0);
                port.expect_sent();
                side.meet();
            }
        },
        [](Side &side) {
            for (int round = 0; round < 5; ++round) {
                Port port(side, {.first_psn = static_cast<uint32_t>(round) * 1000});
                port.post_receive(0, 9000);
                side.meet();
                EXPECT_EQ(port.wait_received().byte_len, 9000u);
                EXPECT_TRUE(hosts::is_filled(port.at(0), 9000, static_cast<uint32_t>(round)));
                side.meet();
            }
        });
}

}  // namespace
