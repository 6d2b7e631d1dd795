// SPDX-License-Identifier: BSD-2-Clause
// ibv_resolve_eth_l2_from_gid: what it returns and writes. How addresses are found is tested in neigh.
#include <gtest/gtest.h>

#include <array>

#include "fake_port.hh"

namespace {

using verbs::test::FakePort;
using Mac = std::array<uint8_t, 6>;

class EthL2Test : public testing::Test {
protected:
    EthL2Test() { port_.add_gid("127.0.0.1", IBV_GID_TYPE_ROCE_V2, "lo"); }

    int resolve(const std::string &destination, uint8_t sgid_index = 0, uint8_t port_num = FakePort::kPort)
    {
        ibv_ah_attr attr = {};
        attr.is_global = 1;
        attr.port_num = port_num;
        attr.grh.sgid_index = sgid_index;
        attr.grh.dgid = verbs::test::gid(destination);
        return ibv_resolve_eth_l2_from_gid(port_.context(), &attr, mac_.data(), &vlan_);
    }

    void expect_untouched() const
    {
        EXPECT_EQ(mac_, kUntouchedMac);
        EXPECT_EQ(vlan_, kUntouchedVlan);
    }

    static constexpr Mac kUntouchedMac = {1, 2, 3, 4, 5, 6};
    static constexpr uint16_t kUntouchedVlan = 0x1234;
    FakePort port_;
    Mac mac_ = kUntouchedMac;
    uint16_t vlan_ = kUntouchedVlan;
};

TEST_F(EthL2Test, GivesTheInterfaceItselfForItsOwnAddress)
{
    errno = 7;
    EXPECT_EQ(resolve("127.0.0.1"), 0);
    EXPECT_EQ(errno, 7);
    EXPECT_EQ(mac_, Mac{});
    EXPECT_EQ(vlan_, 0xffff);
}

TEST_F(EthL2Test, NeedsNoPlaceForTheVlan)
{
    ibv_ah_attr attr = {};
    attr.port_num = FakePort::kPort;
    attr.grh.dgid = verbs::test::gid("127.0.0.1");
    EXPECT_EQ(ibv_resolve_eth_l2_from_gid(port_.context(), &attr, mac_.data(), nullptr), 0);
    EXPECT_EQ(mac_, Mac{});
}

TEST_F(EthL2Test, ReturnsMinusOneForAPortThatDoesNotExist)
{
    errno = 0;
    EXPECT_EQ(resolve("127.0.0.1", 0, 2), -1);
    EXPECT_EQ(errno, EINVAL);
    expect_untouched();
}

TEST_F(EthL2Test, RefusesGidsThatDoNotExist)
{
    port_.add_empty_gid();
    EXPECT_EQ(resolve("127.0.0.1", 1), -EINVAL);
    EXPECT_EQ(resolve("127.0.0.1", 200), -EINVAL);
    expect_untouched();
}

TEST_F(EthL2Test, SaysWhatIsUnreachable)
{
    port_.add_gid("127.0.0.1", IBV_GID_TYPE_ROCE_V2);  // on no interface
    EXPECT_EQ(resolve("127.0.0.1", 1), -EHOSTUNREACH);
    EXPECT_EQ(resolve("2001:db8::1", 0), -EHOSTUNREACH);
    expect_untouched();
}

TEST(EthL2InfinibandTest, RefusesPortsWithoutEthernet)
{
    FakePort port(IBV_LINK_LAYER_INFINIBAND);
    port.add_gid("fe80::1", IBV_GID_TYPE_IB);
    ibv_ah_attr attr = {};
    attr.port_num = FakePort::kPort;
    Mac mac = {};
    EXPECT_EQ(ibv_resolve_eth_l2_from_gid(port.context(), &attr, mac.data(), nullptr), -EINVAL);
}

}  // namespace
