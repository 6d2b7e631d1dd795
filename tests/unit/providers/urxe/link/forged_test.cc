// SPDX-License-Identifier: BSD-2-Clause
// Packets that nobody connected sent: a connection that is busy meanwhile takes no harm.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "hosts.hh"
#include "wire/icrc.hh"
#include "wire/packet.hh"

namespace {

using hosts::Port;
using hosts::Side;
namespace wire = urxe::wire;

class Forged : public hosts::Test {};

constexpr int kRounds = 400;
constexpr size_t kLength = 3000;

/// The socket of who forges: on the port of RoCEv2, with an address of the host's own.
int open_socket(const char *address)
{
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int yes = 1, probe = IP_PMTUDISC_PROBE;
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(wire::kRoceUdpPort);
    EXPECT_EQ(inet_pton(AF_INET, address, &own.sin_addr), 1);
    // Bound to an address of its own, it gets none of the packets for the library.
    EXPECT_EQ(setsockopt(file, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes), 0);
    EXPECT_EQ(setsockopt(file, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof probe), 0);
    EXPECT_EQ(bind(file, reinterpret_cast<const sockaddr *>(&own), sizeof own), 0);
    return file;
}

wire::Flow flow_from(const char *source)
{
    wire::Flow flow{};
    flow.source[10] = flow.source[11] = flow.destination[10] = flow.destination[11] = 0xff;
    EXPECT_EQ(inet_pton(AF_INET, source, flow.source.data() + 12), 1);
    EXPECT_EQ(inet_pton(AF_INET, "10.7.0.2", flow.destination.data() + 12), 1);
    flow.source_port = flow.destination_port = wire::kRoceUdpPort;
    return flow;
}

/// A packet with a right ICRC more often than not, for the QP, one beside it, or any.
size_t forge(std::mt19937 &random, const wire::Flow &flow, uint32_t qp_num, uint8_t (&packet)[256])
{
    constexpr uint8_t kOpcodes[] = {0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c, 0x10, 0x11, 0x12, 0x13,
                                    0x14, 0x16, 0x17, 0x1c, 0x1d, 0x24, 0x2a, 0x64, 0x65, 0x81, 0xff};
    for (uint8_t &byte : packet)
        byte = static_cast<uint8_t>(random());
    size_t size =
        (random() % 16 == 0 ? random() % 12 : 12 + random() % 200) & ~size_t{random() % 8 == 0 ? 0U : 3U};
    packet[0] = kOpcodes[random() % std::size(kOpcodes)];
    packet[1] = 0x40;
    packet[2] = packet[3] = 0xff;
    const uint32_t to = random() % 8 == 0 ? static_cast<uint32_t>(random()) : qp_num + random() % 2;
    packet[5] = static_cast<uint8_t>(to >> 16);
    packet[6] = static_cast<uint8_t>(to >> 8);
    packet[7] = static_cast<uint8_t>(to);
    if (size >= 16 && random() % 8 != 0)
        wire::icrc_seal(flow, {packet, size});
    return size;
}

TEST_F(Forged, PacketsOfStrangersChangeNothing)
{
    // Right in all but where they come from. A connection takes only what comes from its peer's address.
    if (hosts::shell(0, "ip addr add 10.7.0.9/24 dev va") != 0)
        GTEST_SKIP() << "no further address";
    const wire::Flow flow = flow_from("10.7.0.9");
    hosts::run(
        [&](Side &side) {
            Port port(side, {});
            const int file = open_socket("10.7.0.9");
            sockaddr_in to{};
            to.sin_family = AF_INET;
            to.sin_port = htons(wire::kRoceUdpPort);
            EXPECT_EQ(inet_pton(AF_INET, "10.7.0.2", &to.sin_addr), 1);
            std::mt19937 random(1);
            uint8_t packet[256];
            for (uint32_t round = 0; round < kRounds; ++round) {
                hosts::fill(port.at(0), kLength, round);
                side.meet();
                port.post(round % 2 == 0 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE_WITH_IMM, 0, kLength, 8192);
                for (int i = 0; i < 8; ++i) {
                    const size_t size = forge(random, flow, port.remote.qp_num, packet);
                    EXPECT_EQ(
                        sendto(file, packet, size, 0, reinterpret_cast<const sockaddr *>(&to), sizeof to),
                        static_cast<ssize_t>(size));
                }
                ASSERT_EQ(port.wait_sent().status, IBV_WC_SUCCESS) << round;
                side.meet();
            }
            close(file);
        },
        [](Side &side) {
            Port port(side, {});
            for (uint32_t round = 0; round < kRounds; ++round) {
                std::memset(port.at(8192), 0, kLength);
                port.post_receive(8192, kLength);
                side.meet();
                ASSERT_EQ(port.wait_received().status, IBV_WC_SUCCESS) << round;
                side.meet();
                ASSERT_TRUE(hosts::is_filled(port.at(8192), kLength, round)) << round;
            }
            EXPECT_EQ(port.state(), IBV_QPS_RTS);
        });
}

}  // namespace
