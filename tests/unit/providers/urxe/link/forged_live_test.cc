// SPDX-License-Identifier: BSD-2-Clause
// Forged packets from the peer's own address, for a connection that is in use: what must not harm it does not, what must
// end it ends it with the right event, no other memory is touched, and each is counted.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "hosts.hh"
#include "wire/icrc.hh"
#include "wire/packet.hh"

namespace {

using hosts::Port;
using hosts::Side;
namespace wire = urxe::wire;

class ForgedLive : public hosts::Test {};

constexpr int kRounds = 100;
constexpr size_t kLength = 5000;
constexpr uint32_t kPsn = Port::Options{}.first_psn;  ///< the first of host 0

/// Sends packets to host 1 with host 0's address, from another port: the library's own gets what comes back.
class Forger {
public:
    Forger() : file_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))
    {
        const int probe = IP_PMTUDISC_PROBE;
        EXPECT_EQ(setsockopt(file_, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof probe), 0);
        sockaddr_in own{};
        own.sin_family = AF_INET;
        EXPECT_EQ(inet_pton(AF_INET, "10.7.0.1", &own.sin_addr), 1);
        socklen_t size = sizeof own;
        EXPECT_EQ(bind(file_, reinterpret_cast<const sockaddr *>(&own), sizeof own), 0);
        EXPECT_EQ(getsockname(file_, reinterpret_cast<sockaddr *>(&own), &size), 0);
        to_.sin_family = AF_INET;
        to_.sin_port = htons(wire::kRoceUdpPort);
        EXPECT_EQ(inet_pton(AF_INET, "10.7.0.2", &to_.sin_addr), 1);
        flow_.source[10] = flow_.source[11] = flow_.destination[10] = flow_.destination[11] = 0xff;
        std::memcpy(flow_.source.data() + 12, &own.sin_addr, 4);
        std::memcpy(flow_.destination.data() + 12, &to_.sin_addr, 4);
        flow_.source_port = ntohs(own.sin_port);
        flow_.destination_port = wire::kRoceUdpPort;
    }
    Forger(const Forger &) = delete;
    Forger &operator=(const Forger &) = delete;
    ~Forger() { close(file_); }

    /// With a right ICRC, changed by `damage`; a length other than 0 cuts it there.
    void send(const wire::Packet &packet, uint8_t damage = 0, size_t length = 0) const
    {
        uint8_t bytes[wire::kMaxPacketSize];
        const size_t size = wire::build(packet, bytes);
        ASSERT_NE(size, 0u);
        wire::icrc_seal(flow_, {bytes, size});
        bytes[size - 1] ^= damage;
        send_bytes(bytes, length == 0 ? size : length);
    }
    /// The same with an opcode that does not exist.
    void send_unknown(wire::Packet packet) const
    {
        uint8_t bytes[wire::kMaxPacketSize];
        const size_t size = wire::build(packet, bytes);
        ASSERT_NE(size, 0u);
        bytes[0] = 0x1f;
        wire::icrc_seal(flow_, {bytes, size});
        send_bytes(bytes, size);
    }

private:
    void send_bytes(const uint8_t *bytes, size_t size) const
    {
        EXPECT_EQ(sendto(file_, bytes, size, 0, reinterpret_cast<const sockaddr *>(&to_), sizeof to_),
                  static_cast<ssize_t>(size));
    }

    int file_;
    sockaddr_in to_{};
    wire::Flow flow_{};
};

const uint8_t kEvil[2048] = {0xee, 0xee, 0xee, 0xee};

/// A WRITE of evil bytes to the peer's memory.
wire::Packet write_of(const Port &port, uint32_t psn)
{
    wire::Packet packet{};
    packet.bth.opcode = wire::opcode_of(wire::Transport::kRc, wire::Operation::kWriteOnly);
    packet.bth.pkey = 0xffff;
    packet.bth.dest_qpn = port.remote.qp_num;
    packet.bth.psn = psn & 0xffffff;
    packet.reth = {.address = port.remote.address, .rkey = port.remote.rkey, .length = 64};
    packet.payload = {kEvil, 64};
    return packet;
}

/// Where the library of this process tells what it counted.
class Log {
public:
    Log() : name_("/tmp/urxe_counters_" + std::to_string(getpid()))
    {
        setenv("VERBS_LOG_LEVEL", "4", 1);
        setenv("VERBS_LOG_FILE", name_.c_str(), 1);
    }
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;
    ~Log() { unlink(name_.c_str()); }

    /// Once the device is closed.
    uint64_t value(const std::string &counter) const
    {
        std::ifstream file(name_);
        uint64_t value = 0;
        for (std::string word; file >> word;)
            if (word == counter)
                file >> value;
        return value;
    }

private:
    std::string name_;
};

TEST_F(ForgedLive, PacketsThatAreNotDueChangeNoStream)
{
    const auto play = [](Port &port, uint32_t round) {
        const uint32_t turns[] = {round, round + 0x800};
        const uint32_t own = turns[port.side.host()], foreign = turns[1 - port.side.host()];
        hosts::fill(port.at(65536), kLength, own);
        std::memset(port.at(131072), 0, kLength);
        port.post_receive(131072, kLength);
        port.side.meet();
        port.post(IBV_WR_SEND, 65536, kLength, 0);
        ASSERT_EQ(port.wait_sent().status, IBV_WC_SUCCESS) << round;
        ASSERT_EQ(port.wait_received().status, IBV_WC_SUCCESS) << round;
        ASSERT_TRUE(hosts::is_filled(port.at(131072), kLength, foreign)) << round;
    };
    hosts::run(
        [&](Side &side) {
            Port port(side, {});
            const Forger forger;
            for (uint32_t round = 0; round < kRounds; ++round) {
                forger.send(write_of(port, kPsn + round), 1);
                forger.send(write_of(port, kPsn + round), 0, 8);
                wire::Packet packet = write_of(port, kPsn + round);
                packet.bth.dest_qpn += 1;
                forger.send(packet);
                packet = write_of(port, kPsn + round);
                packet.bth.pkey = 0x1234;
                forger.send(packet);
                // Of long ago, and of a future that never comes.
                forger.send(write_of(port, kPsn - 1000));
                forger.send(write_of(port, kPsn + 0x200000));
                // An answer to what was never asked.
                packet = {};
                packet.bth = write_of(port, port.remote.psn + 0x200000).bth;
                packet.bth.opcode = wire::opcode_of(wire::Transport::kRc, wire::Operation::kAcknowledge);
                packet.aeth.syndrome = wire::nak_syndrome(wire::NakCode::kRemoteAccessError);
                forger.send(packet);
                ASSERT_NO_FATAL_FAILURE(play(port, round));
            }
            side.meet();
        },
        [&](Side &side) {
            const Log log;
            {
                Port port(side, {});
                for (uint32_t round = 0; round < kRounds; ++round)
                    ASSERT_NO_FATAL_FAILURE(play(port, round));
                EXPECT_EQ(port.state(), IBV_QPS_RTS);
                for (size_t i = 0; i < 64; ++i)
                    ASSERT_EQ(*port.at(i), 0);
                side.meet();
            }
            for (const char *counter :
                 {"bad_icrc", "bad_header", "bad_qpn", "bad_pkey", "duplicate_request", "out_of_seq_request"})
                EXPECT_GE(log.value(counter), uint64_t{kRounds}) << counter;
            EXPECT_GT(log.value("rcvd_pkts"), uint64_t{kRounds});
            EXPECT_GT(log.value("sent_pkts"), uint64_t{kRounds});
            EXPECT_EQ(log.value("bad_qkey"), 0u);
        });
}

TEST_F(ForgedLive, DatagramsWithAnotherKeyAreCounted)
{
    const Port::Options options = {.type = IBV_QPT_UD};
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            side.meet();
            port.post(IBV_WR_SEND, 0, 16, 0,
                      [](ibv_send_wr &request) { request.wr.ud.remote_qkey = Port::kQkey + 1; });
            port.expect_sent();
            port.post(IBV_WR_SEND, 0, 16, 0);
            port.expect_sent();
        },
        [&](Side &side) {
            const Log log;
            {
                Port port(side, options);
                port.post_receive(0, 100);
                side.meet();
                EXPECT_EQ(port.wait_received().status, IBV_WC_SUCCESS);
            }
            EXPECT_EQ(log.value("bad_qkey"), 1u);
        });
}

/// A packet that is due but wrong.
struct Wrong {
    const char *name;
    void (*forge)(const Port &, const Forger &, wire::Packet);
    ibv_event_type event;
    ibv_wc_status answer;
};

class ForgedDue : public hosts::Test, public testing::WithParamInterface<Wrong> {};

TEST_P(ForgedDue, EndsTheConnectionAndTouchesNothing)
{
    hosts::run(
        [&](Side &side) {
            Port port(side, {.timeout = 12, .retry_count = 1});
            side.meet();
            port.post(IBV_WR_SEND, 0, 100, 0);
            port.expect_sent();
            side.meet();
            GetParam().forge(port, Forger(), write_of(port, kPsn + 1));
            side.meet();
            port.post(IBV_WR_SEND, 0, 100, 0);
            // The answer to the forged one may come when the packet that it names has been sent.
            const ibv_wc_status status = port.wait_sent().status;
            EXPECT_TRUE(status == IBV_WC_RETRY_EXC_ERR || status == GetParam().answer)
                << ibv_wc_status_str(status);
            side.meet();
        },
        [&](Side &side) {
            Port port(side, {.timeout = 12, .retry_count = 1});
            port.post_receive(4096, 100);
            port.post_receive(8192, 100);
            side.meet();
            EXPECT_EQ(port.wait_received().status, IBV_WC_SUCCESS);
            const std::vector<uint8_t> before = port.memory;
            side.meet();
            ibv_async_event event{};
            ASSERT_EQ(ibv_get_async_event(port.context, &event), 0);
            EXPECT_STREQ(ibv_event_type_str(event.event_type), ibv_event_type_str(GetParam().event));
            ibv_ack_async_event(&event);
            EXPECT_EQ(port.state(), IBV_QPS_ERR);
            EXPECT_EQ(port.wait_received().status, IBV_WC_WR_FLUSH_ERR);
            EXPECT_EQ(before, port.memory);
            side.meet();
            side.meet();
        });
}

constexpr Wrong kWrong[] = {
    {"Key",
     [](const Port &, const Forger &forger, wire::Packet packet) {
         packet.reth.rkey ^= 1;
         forger.send(packet);
     },
     IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR},
    {"Address",
     [](const Port &port, const Forger &forger, wire::Packet packet) {
         packet.reth.address += port.options.size - 63;
         forger.send(packet);
     },
     IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR},
    {"Length",
     [](const Port &, const Forger &forger, wire::Packet packet) {
         packet.reth.length = 60;
         forger.send(packet);
     },
     IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR},
    {"Mtu",
     [](const Port &, const Forger &forger, wire::Packet packet) {
         packet.payload = {kEvil, 2048};
         packet.reth.length = 2048;
         forger.send(packet);
     },
     IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR},
    {"Sequence",
     [](const Port &, const Forger &forger, wire::Packet packet) {
         packet.bth.opcode = wire::opcode_of(wire::Transport::kRc, wire::Operation::kWriteLast);
         forger.send(packet);
     },
     IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR},
    {"Opcode", [](const Port &, const Forger &forger, wire::Packet packet) { forger.send_unknown(packet); },
     IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR},
};

INSTANTIATE_TEST_SUITE_P(Packets, ForgedDue, testing::ValuesIn(kWrong),
                         [](const auto &test) { return std::string(test.param.name); });

}  // namespace
