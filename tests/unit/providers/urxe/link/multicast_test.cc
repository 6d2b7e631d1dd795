// SPDX-License-Identifier: BSD-2-Clause
// Datagrams to multicast groups with members on both hosts, in several processes of each.
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "hosts.hh"

namespace {

using hosts::Address;
using hosts::Port;
using hosts::Side;

constexpr size_t kGrh = 40;
constexpr uint32_t kMulticastQp = 0xffffff;
constexpr uint32_t kCount = 40;
constexpr size_t kSlotSize = 2048;
constexpr size_t kSent = size_t{2} << 20;  ///< where senders have their bytes

struct Group {
    Address address;
    const char *text, *other;
};

class Multicast : public hosts::Test, public testing::WithParamInterface<Group> {};

ibv_gid gid_of(const char *text)
{
    ibv_gid gid{};
    EXPECT_EQ(inet_pton(AF_INET6, text, gid.raw), 1);
    return gid;
}

/// What all processes of a test share.
class Shared {
public:
    explicit Shared(unsigned processes)
        : data_(static_cast<Data *>(
              mmap(nullptr, sizeof(Data), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
    {
        pthread_barrierattr_t attr;
        pthread_barrierattr_init(&attr);
        pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&data_->barrier, &attr, processes);
    }
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;
    ~Shared() { munmap(data_, sizeof(Data)); }

    void meet() { pthread_barrier_wait(&data_->barrier); }
    ibv_gid &sender() { return data_->sender; }
    uint32_t &sender_qp() { return data_->sender_qp; }

private:
    struct Data {
        pthread_barrier_t barrier;
        ibv_gid sender;
        uint32_t sender_qp;
    } * data_;
};

/// An address handle for a group.
class Path {
public:
    Path(const Port &port, const ibv_gid &gid)
    {
        ibv_ah_attr attr{};
        attr.is_global = 1;
        attr.port_num = 1;
        attr.grh.dgid = gid;
        attr.grh.sgid_index = static_cast<uint8_t>(hosts::gid_index(port.context, port.options.address));
        attr.grh.hop_limit = 5;
        handle = ibv_create_ah(port.pd, &attr);
        EXPECT_NE(handle, nullptr);
    }
    Path(const Path &) = delete;
    Path &operator=(const Path &) = delete;
    ~Path() { EXPECT_EQ(ibv_destroy_ah(handle), 0); }

    ibv_ah *handle;
};

void send(Port &port, const Path &path, uint32_t turn, uint32_t qp_num = kMulticastQp,
          uint32_t qkey = Port::kQkey)
{
    hosts::fill(port.at(kSent), 700, turn);
    port.post(IBV_WR_SEND_WITH_IMM, kSent, 700, 0, [&](ibv_send_wr &request) {
        request.imm_data = turn;
        request.wr.ud = {.ah = path.handle, .remote_qpn = qp_num, .remote_qkey = qkey};
    });
    port.expect_sent();
}

void attach(Port &port, const ibv_gid &group)
{
    ASSERT_EQ(ibv_attach_mcast(port.qp, &group, 0), 0);
}

void detach(Port &port, const ibv_gid &group)
{
    ASSERT_EQ(ibv_detach_mcast(port.qp, &group, 0), 0);
}

void expect_grh(const uint8_t *grh, const ibv_gid &from, const ibv_gid &group, bool is_ipv4)
{
    if (is_ipv4) {
        iphdr header;
        std::memcpy(&header, grh + 20, sizeof header);
        EXPECT_EQ(header.version, 4);
        EXPECT_EQ(header.ttl, 5);
        EXPECT_EQ(std::memcmp(&header.saddr, from.raw + 12, 4), 0);
        EXPECT_EQ(std::memcmp(&header.daddr, group.raw + 12, 4), 0);
        return;
    }
    ibv_grh header;
    std::memcpy(&header, grh, sizeof header);
    EXPECT_EQ(header.hop_limit, 5);
    EXPECT_EQ(std::memcmp(&header.sgid, &from, sizeof from), 0);
    EXPECT_EQ(std::memcmp(&header.dgid, &group, sizeof group), 0);
}

/// The next datagram is that of the turn.
void expect_turn(Port &port, Shared &shared, const ibv_gid &group, uint32_t turn)
{
    const ibv_wc completion = port.wait_received();
    ASSERT_EQ(completion.status, IBV_WC_SUCCESS) << turn;
    ASSERT_EQ(completion.imm_data, turn) << "host " << port.side.host();
    ASSERT_EQ(completion.byte_len, 700 + kGrh);
    ASSERT_EQ(completion.src_qp, shared.sender_qp());
    ASSERT_EQ(completion.wc_flags & IBV_WC_GRH, IBV_WC_GRH);
    expect_grh(port.at(completion.wr_id), shared.sender(), group, port.options.address == Address::kIpv4);
    ASSERT_TRUE(hosts::is_filled(port.at(completion.wr_id + kGrh), 700, turn));
}

void be_sender(Side &side, const Group &kind, Shared &shared)
{
    Port port(side, {.type = IBV_QPT_UD, .address = kind.address});
    const Path path(port, gid_of(kind.text));
    ASSERT_EQ(ibv_query_gid(port.context, 1, hosts::gid_index(port.context, kind.address), &shared.sender()),
              0);
    shared.sender_qp() = port.qp->qp_num;
    shared.meet();
    for (uint32_t turn = 0; turn < kCount; ++turn)
        send(port, path, turn);
    shared.meet();
    // One that came twice would be in front of this.
    send(port, path, kCount);
    shared.meet();
}

void be_member(Side &side, const Group &kind, Shared &shared, size_t qps)
{
    const ibv_gid group = gid_of(kind.text);
    std::vector<std::unique_ptr<Port>> ports;
    for (size_t i = 0; i < qps; ++i) {
        ports.push_back(
            std::make_unique<Port>(side, Port::Options{.type = IBV_QPT_UD, .address = kind.address}));
        attach(*ports.back(), group);
        for (uint32_t turn = 0; turn < kCount + 8; ++turn)
            ports.back()->post_receive(turn * kSlotSize, 700 + kGrh);
    }
    shared.meet();
    shared.meet();
    for (const auto &port : ports)
        for (uint32_t turn = 0; turn < kCount; ++turn)
            ASSERT_NO_FATAL_FAILURE(expect_turn(*port, shared, group, turn));
    shared.meet();
    for (const auto &port : ports) {
        expect_turn(*port, shared, group, kCount);
        detach(*port, group);
    }
}

TEST_P(Multicast, ReachesEachMemberOnce)
{
    Shared shared(4);
    hosts::run(
        [&](Side &side) {
            if (side.index() == 0)
                be_sender(side, GetParam(), shared);
            else
                be_member(side, GetParam(), shared, 2);
        },
        [&](Side &side) { be_member(side, GetParam(), shared, side.index() == 0 ? 1 : 2); }, 2);
}

/// Whether some process of this host has joined the group.
bool is_joined(const ibv_gid &group, bool is_ipv4)
{
    char wanted[40];
    if (is_ipv4) {
        uint32_t address;
        std::memcpy(&address, group.raw + 12, sizeof address);
        std::snprintf(wanted, sizeof wanted, "%08X", address);
    } else {
        for (size_t i = 0; i < sizeof group.raw; ++i)
            std::snprintf(wanted + i * 2, 3, "%02x", group.raw[i]);
    }
    std::ifstream list(is_ipv4 ? "/proc/self/net/igmp" : "/proc/self/net/igmp6");
    for (std::string line; std::getline(list, line);)
        if (line.find(wanted) != std::string::npos)
            return true;
    return false;
}

TEST_P(Multicast, IsJoinedAsLongAsAQueuePairIsAttached)
{
    const bool is_ipv4 = GetParam().address == Address::kIpv4;
    const ibv_gid group = gid_of(GetParam().text);
    const Port::Options options = {.type = IBV_QPT_UD, .address = GetParam().address};
    Shared shared(2);
    hosts::run(
        [&](Side &side) {
            Port one(side, options), two(side, options);
            const Path path(one, group);
            shared.sender_qp() = one.qp->qp_num;
            ASSERT_EQ(ibv_query_gid(one.context, 1, hosts::gid_index(one.context, options.address),
                                    &shared.sender()),
                      0);
            for (uint32_t turn = 0; turn < 4; ++turn) {
                side.meet();
                send(one, path, turn);
                // What comes behind it shows that it came, or did not.
                one.post(IBV_WR_SEND_WITH_IMM, kSent, 4, 0,
                         [](ibv_send_wr &request) { request.imm_data = 99; });
                one.expect_sent();
                side.meet();
            }
        },
        [&](Side &side) {
            Port one(side, options), two(side, options);
            for (uint32_t i = 0; i < 16; ++i)
                one.post_receive(i * kSlotSize, 1000);
            const auto expect = [&](uint32_t turn, bool is_attached) {
                side.meet();
                if (is_attached)
                    expect_turn(one, shared, group, turn);
                EXPECT_EQ(one.wait_received().imm_data, 99u) << turn;
                side.meet();
            };
            expect(0, false);
            attach(two, group);
            attach(one, group);
            attach(one, group);  // Once more is once.
            EXPECT_TRUE(is_joined(group, is_ipv4));
            expect(1, true);
            detach(two, group);
            EXPECT_TRUE(is_joined(group, is_ipv4));
            expect(2, true);
            detach(one, group);
            EXPECT_FALSE(is_joined(group, is_ipv4));
            expect(3, false);
            EXPECT_EQ(ibv_detach_mcast(one.qp, &group, 0), EINVAL);
        });
}

TEST_P(Multicast, IsForMembersWithTheKeyAlone)
{
    const ibv_gid group = gid_of(GetParam().text), other = gid_of(GetParam().other);
    const Port::Options options = {.type = IBV_QPT_UD, .address = GetParam().address};
    Shared shared(2);
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            const Path path(port, group), elsewhere(port, other), alone(port, port.remote.gid);
            shared.sender_qp() = port.qp->qp_num;
            ASSERT_EQ(ibv_query_gid(port.context, 1, hosts::gid_index(port.context, options.address),
                                    &shared.sender()),
                      0);
            side.meet();
            send(port, path, 1, kMulticastQp, Port::kQkey + 1);
            send(port, elsewhere, 2);
            send(port, path, 3, port.remote.qp_num);
            send(port, alone, 4);
            send(port, path, 5);
            side.meet();
        },
        [&](Side &side) {
            Port port(side, options);
            for (uint32_t i = 0; i < 8; ++i)
                port.post_receive(i * kSlotSize, 700 + kGrh);
            attach(port, group);
            side.meet();
            expect_turn(port, shared, group, 5);
            side.meet();
            detach(port, group);
        });
}

INSTANTIATE_TEST_SUITE_P(Groups, Multicast,
                         testing::Values(Group{Address::kIpv4, "::ffff:239.7.7.1", "::ffff:239.7.7.2"},
                                         Group{Address::kGlobal, "ff0e::7:1", "ff0e::7:2"},
                                         Group{Address::kLinkLocal, "ff02::7:1", "ff02::7:2"}));

}  // namespace
