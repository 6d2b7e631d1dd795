// SPDX-License-Identifier: BSD-2-Clause
// GID and P_Key tables in sysfs: sparse ones, those of older kernels, and indices beyond the end.
#include "discovery/port_sysfs.hh"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <cstring>

#include "fake_tree.hh"

namespace verbs::discovery {
namespace {

constexpr char kLinkLocal[] = "fe80:0000:0000:0000:5054:00ff:fe12:3456\n";
constexpr char kNoGid[] = "0000:0000:0000:0000:0000:0000:0000:0000\n";

class PortSysfs : public testing::Test {
protected:
    PortSysfs()
    {
        strncpy(device_.ibdev_path, tree_.path("rxe0").c_str(), sizeof device_.ibdev_path - 1);
        tree_.file("rxe0/ports/1/link_layer", "Ethernet\n");
    }

    void gid(int index, const char *text, const char *type = nullptr, const char *ndev = nullptr)
    {
        std::string port = "rxe0/ports/1/";
        tree_.file(port + "gids/" + std::to_string(index), text);
        if (type != nullptr)
            tree_.file(port + "gid_attrs/types/" + std::to_string(index), type);
        if (ndev != nullptr)
            tree_.file(port + "gid_attrs/ndevs/" + std::to_string(index), ndev);
    }

    test::FakeTree tree_;
    verbs_sysfs_dev device_{};
};

TEST_F(PortSysfs, ReadsGidsInNetworkOrder)
{
    gid(0, kLinkLocal);
    Result<ibv_gid> read = read_gid(device_, 1, 0);
    ASSERT_TRUE(read);
    constexpr uint8_t kExpected[16] = {0xfe, 0x80, 0, 0,    0,    0,    0,    0,
                                       0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56};
    EXPECT_EQ(memcmp(read->raw, kExpected, sizeof kExpected), 0);
}

TEST_F(PortSysfs, EmptyEntriesSayNothingOfOthers)
{
    gid(0, kNoGid);
    gid(4, kLinkLocal, "RoCE v2\n");
    Result<ibv_gid> empty = read_gid(device_, 1, 0);
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->global.interface_id, 0u);
    EXPECT_TRUE(read_gid(device_, 1, 4));
    EXPECT_EQ(read_gid_type(device_, 1, 0).error(), EINVAL);
    EXPECT_EQ(*read_gid_type(device_, 1, 4), IBV_GID_TYPE_ROCE_V2);
    EXPECT_EQ(read_gid_ndev(device_, 1, 0).error(), EINVAL);
}

TEST_F(PortSysfs, BeyondTheTableIsNoEntry)
{
    gid(0, kLinkLocal, "RoCE v2\n", "lo\n");
    EXPECT_EQ(read_gid(device_, 1, 1).error(), ENOENT);
    EXPECT_EQ(read_gid_type(device_, 1, 1).error(), ENOENT);
    EXPECT_EQ(read_gid_ndev(device_, 1, 1).error(), ENOENT);
    EXPECT_EQ(read_pkey(device_, 1, 0).error(), ENOENT);
    EXPECT_EQ(read_gid(device_, 2, 0).error(), ENOENT);
}

TEST_F(PortSysfs, TheLinkLayerTellsIbFromRoceV1)
{
    gid(0, kLinkLocal, "IB/RoCE v1\n");
    EXPECT_EQ(*read_gid_type(device_, 1, 0), IBV_GID_TYPE_ROCE_V1);
    tree_.file("rxe0/ports/1/link_layer", "InfiniBand\n");
    EXPECT_EQ(*read_gid_type(device_, 1, 0), IBV_GID_TYPE_IB);
}

TEST_F(PortSysfs, KernelsWithoutTypesHaveTheFirstTwo)
{
    gid(0, kLinkLocal);
    EXPECT_EQ(*read_gid_type(device_, 1, 0), IBV_GID_TYPE_ROCE_V1);
}

TEST_F(PortSysfs, FindsTheInterfaceOfAGid)
{
    gid(0, kLinkLocal, "RoCE v2\n", "lo\n");
    EXPECT_EQ(*read_gid_ndev(device_, 1, 0), if_nametoindex("lo"));
    gid(1, kLinkLocal, "RoCE v2\n", "nosuch0\n");
    EXPECT_EQ(read_gid_ndev(device_, 1, 1).error(), ENODEV);
    gid(2, kLinkLocal);
    EXPECT_EQ(*read_gid_ndev(device_, 1, 2), 0u);
}

TEST_F(PortSysfs, RefusesWhatIsNoGid)
{
    gid(0, "not a gid\n", "RoCE v9\n");
    EXPECT_EQ(read_gid(device_, 1, 0).error(), EBADMSG);
    EXPECT_EQ(read_gid_type(device_, 1, 0).error(), EBADMSG);
}

TEST_F(PortSysfs, ReadsPkeysInNetworkOrder)
{
    tree_.file("rxe0/ports/1/pkeys/0", "0x7fff\n");
    tree_.file("rxe0/ports/1/pkeys/1", "0x0000\n");
    tree_.file("rxe0/ports/1/pkeys/2", "0x1ffff\n");
    tree_.file("rxe0/ports/1/pkeys/3", "none\n");
    EXPECT_EQ(*read_pkey(device_, 1, 0), htons(0x7fff));
    EXPECT_EQ(*read_pkey(device_, 1, 1), 0);
    EXPECT_EQ(read_pkey(device_, 1, 2).error(), EBADMSG);
    EXPECT_EQ(read_pkey(device_, 1, 3).error(), EBADMSG);
}

}  // namespace
}  // namespace verbs::discovery
