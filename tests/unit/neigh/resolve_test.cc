// SPDX-License-Identifier: BSD-2-Clause
// Resolution in a network of two hosts. The outcomes are those of release 44.0.
#include "neigh/resolve.hh"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "network.hh"

// The linker has the code under test call these. While `time_is_told`, time passes only where that code waits
// in vain, and as long as it meant to wait.
static bool time_is_told = false;
static int64_t told_ms = 0;

extern "C" int __real_clock_gettime(clockid_t clock, timespec *now);
extern "C" int __wrap_clock_gettime(clockid_t clock, timespec *now)
{
    if (!time_is_told)
        return __real_clock_gettime(clock, now);
    *now = {.tv_sec = told_ms / 1000, .tv_nsec = told_ms % 1000 * 1'000'000};
    return 0;
}

extern "C" int __real_poll(pollfd *files, nfds_t count, int timeout_ms);
extern "C" int __wrap_poll(pollfd *files, nfds_t count, int timeout_ms)
{
    int ready = __real_poll(files, count, time_is_told ? 0 : timeout_ms);
    if (time_is_told && ready == 0)
        told_ms += timeout_ms;
    return ready;
}

namespace verbs::neigh {

static bool operator==(const EthernetHop &left, const EthernetHop &right)
{
    return left.mac == right.mac && left.vlan_id == right.vlan_id;
}

}  // namespace verbs::neigh

namespace {

using verbs::Result;
using verbs::neigh::EthernetHop;
using verbs::neigh::kNoVlan;
using verbs::neigh::Mac;
using verbs::test::Network;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr Mac kNear = {2, 0, 0, 0, 0x0a, 1};
constexpr Mac kFar = {2, 0, 0, 0, 0x0a, 2};
constexpr int kPatienceMs = 3000;

in6_addr address(const std::string &text)
{
    in6_addr address = {};
    std::string ipv6 = text.find(':') == std::string::npos ? "::ffff:" + text : text;
    EXPECT_EQ(inet_pton(AF_INET6, ipv6.c_str(), &address), 1) << text;
    return address;
}

class ResolveTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!network_.missing().empty())
            GTEST_SKIP() << network_.missing();
    }

    static Result<EthernetHop> resolve(const std::string &source, const std::string &destination,
                                       int patience_ms = kPatienceMs, const char *interface = "near")
    {
        return verbs::neigh::resolve(
            {static_cast<int>(if_nametoindex(interface)), address(source), address(destination)},
            patience_ms);
    }

    static void expect_hop(const Result<EthernetHop> &hop, const Mac &mac, uint16_t vlan_id = kNoVlan)
    {
        ASSERT_EQ(hop.error(), 0);
        EXPECT_EQ(*hop, (EthernetHop{mac, vlan_id}));
    }

    Network network_;
};

TEST_F(ResolveTest, GivesItsOwnMacForItsOwnAddress)
{
    expect_hop(resolve("10.7.0.1", "10.7.0.1"), kNear);
    expect_hop(resolve("fd00:7::1", "fd00:7::1"), kNear);
    expect_hop(resolve("10.7.0.1", "fd00:7::1"), kNear);
    expect_hop(resolve("10.7.0.1", "0.0.0.0"), kNear);
}

TEST_F(ResolveTest, AsksTheNetwork)
{
    expect_hop(resolve("10.7.0.1", "10.7.0.2"), kFar);
    expect_hop(resolve("fd00:7::1", "fd00:7::2"), kFar);
}

TEST_F(ResolveTest, KnowsNeighboursOfTheOtherFamily)
{
    EXPECT_EQ(resolve("fd00:7::1", "10.7.0.2").error(), EHOSTUNREACH) << "cannot ask";
    expect_hop(resolve("10.7.0.1", "10.7.0.2"), kFar);
    expect_hop(resolve("fd00:7::1", "10.7.0.2"), kFar);
}

TEST_F(ResolveTest, GoesThroughGateways)
{
    expect_hop(resolve("10.7.0.1", "10.99.1.1"), kFar);
    expect_hop(resolve("fd00:7::1", "fd00:99::5"), kFar);
}

TEST_F(ResolveTest, FollowsPolicyRoutesOfItsSource)
{
    ASSERT_TRUE(Network::ip("rule add from 10.7.0.1 lookup 77"));
    ASSERT_TRUE(Network::ip("route add 10.55.0.0/16 via 10.7.0.2 dev near table 77"));
    expect_hop(resolve("10.7.0.1", "10.55.1.1"), kFar);
}

TEST_F(ResolveTest, UsesEntriesThatWerePutThere)
{
    ASSERT_TRUE(Network::ip("neigh add 10.7.0.50 lladdr 02:11:22:33:44:55 dev near nud permanent"));
    ASSERT_TRUE(Network::ip("neigh add 10.7.0.51 lladdr 02:11:22:33:44:56 dev near nud stale"));
    ASSERT_TRUE(Network::ip("neigh add 10.7.0.53 lladdr 02:11:22:33:44:57 dev near nud noarp"));
    expect_hop(resolve("10.7.0.1", "10.7.0.50"), {2, 0x11, 0x22, 0x33, 0x44, 0x55});
    expect_hop(resolve("10.7.0.1", "10.7.0.51"), {2, 0x11, 0x22, 0x33, 0x44, 0x56});
    expect_hop(resolve("10.7.0.1", "10.7.0.53"), {2, 0x11, 0x22, 0x33, 0x44, 0x57});
}

TEST_F(ResolveTest, NeedsNoNeighbourForMulticastAndLinkLocal)
{
    expect_hop(resolve("10.7.0.1", "224.0.0.1"), {0x01, 0x00, 0x5e, 0x00, 0x00, 0x01});
    expect_hop(resolve("fd00:7::1", "ff02::1"), {0x33, 0x33, 0x00, 0x00, 0x00, 0x01});
    expect_hop(resolve("10.7.0.1", "fe80::1:2:3:4"), {0x02, 0x01, 0x00, 0x03, 0x00, 0x04});
}

TEST_F(ResolveTest, WaitsAsLongAsItMay)
{
    constexpr int kShortMs = 300;
    for (const char *silent : {"10.7.0.77", "fd00:7::77"}) {
        const char *source = silent[0] == 'f' ? "fd00:7::1" : "10.7.0.1";
        told_ms = 0;
        time_is_told = true;
        EXPECT_EQ(resolve(source, silent, kShortMs).error(), EHOSTUNREACH) << silent;
        time_is_told = false;
        EXPECT_EQ(told_ms, kShortMs) << silent;
    }
}

TEST_F(ResolveTest, NoticesAnAnswerWhileItWaits)
{
    // The peer gets the address only after the question: the kernel asks again after a second.
    ASSERT_EQ(std::system(("(sleep 0.3; nsenter -t " + std::to_string(network_.peer()) +
                           " -n ip addr add 10.7.0.3/24 dev far) &")
                              .c_str()),
              0);
    Clock::time_point start = Clock::now();
    expect_hop(resolve("10.7.0.1", "10.7.0.3", 10'000), kFar);
    EXPECT_LT(Clock::now() - start, milliseconds(5000));
}

TEST_F(ResolveTest, FailsAtOnceWithoutARoute)
{
    ASSERT_TRUE(Network::ip("route add unreachable 10.97.0.0/16"));
    Clock::time_point start = Clock::now();
    for (const char *lost : {"8.8.8.8", "10.97.0.1", "10.7.0.255", "255.255.255.255"})
        EXPECT_EQ(resolve("10.7.0.1", lost).error(), EHOSTUNREACH) << lost;
    for (const char *lost : {"2001:db8::1", "::1", "fe80:0:0:1::1"})
        EXPECT_EQ(resolve("fd00:7::1", lost).error(), EHOSTUNREACH) << lost;
    EXPECT_LT(Clock::now() - start, milliseconds(kPatienceMs));
}

TEST_F(ResolveTest, FailsOnInterfacesThatAreDownOrGone)
{
    ASSERT_TRUE(Network::ip("link set near down"));
    EXPECT_EQ(resolve("10.7.0.1", "10.7.0.2", 200).error(), EHOSTUNREACH);
    EXPECT_EQ(resolve("fd00:7::1", "ff02::1", 200).error(), EHOSTUNREACH);
    ASSERT_TRUE(Network::ip("link del near"));
    EXPECT_EQ(resolve("10.7.0.1", "10.7.0.1").error(), EHOSTUNREACH);
}

TEST_F(ResolveTest, TellsTheVlan)
{
    if (!Network::ip("link add link near name near.42 type vlan id 42"))
        GTEST_SKIP() << "the kernel has no VLANs (8021q)";
    ASSERT_TRUE(Network::ip("addr add 10.42.0.1/24 dev near.42") && Network::ip("link set near.42 up"));
    ASSERT_TRUE(network_.peer_ip("link add link far name far.42 type vlan id 42") &&
                network_.peer_ip("addr add 10.42.0.2/24 dev far.42") &&
                network_.peer_ip("link set far.42 up"));
    expect_hop(resolve("10.42.0.1", "10.42.0.2", kPatienceMs, "near.42"), kFar, 42);
    expect_hop(resolve("10.42.0.1", "10.42.0.1", kPatienceMs, "near.42"), kNear, 42);
    expect_hop(resolve("10.42.0.1", "224.0.0.1", kPatienceMs, "near.42"), {0x01, 0, 0x5e, 0, 0, 0x01}, 42);
}

TEST_F(ResolveTest, LeavesNoFilesOpen)
{
    auto lowest_free = [] {
        int fd = dup(0);
        close(fd);
        return fd;
    };
    int before = lowest_free();
    expect_hop(resolve("10.7.0.1", "10.7.0.2"), kFar);
    EXPECT_EQ(resolve("10.7.0.1", "10.7.0.77", 50).error(), EHOSTUNREACH);
    EXPECT_EQ(resolve("fd00:7::1", "10.7.0.78", 50).error(), EHOSTUNREACH);
    EXPECT_EQ(lowest_free(), before);
}

TEST(ResolveWithoutNetworkTest, RefusesInterfacesThatCannotBe)
{
    EXPECT_EQ(verbs::neigh::resolve({0, address("10.7.0.1"), address("10.7.0.1")}, 10).error(), EHOSTUNREACH);
    EXPECT_EQ(verbs::neigh::resolve({-1, address("10.7.0.1"), address("10.7.0.1")}, 10).error(),
              EHOSTUNREACH);
    EXPECT_EQ(verbs::neigh::resolve({1 << 30, address("10.7.0.1"), address("10.7.0.1")}, 10).error(),
              EHOSTUNREACH);
}

}  // namespace
