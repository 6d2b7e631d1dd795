// SPDX-License-Identifier: BSD-2-Clause
// Finding devices in sysfs trees: whole ones, damaged ones, none.
#include "discovery/devices.hh"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <string>
#include <vector>

#include "fake_tree.hh"

namespace verbs::discovery {
namespace {

class Devices : public testing::Test {
protected:
    Result<DeviceChain> discover()
    {
        return discover_devices({.sysfs_root = sys_.root(), .dev_root = dev_.root(), .netlink = false});
    }

    std::vector<std::string> names()
    {
        std::vector<std::string> result;
        Result<DeviceChain> found = discover();
        EXPECT_EQ(found.error(), 0);
        for (const verbs_sysfs_dev *device = found->first(); device != nullptr;
             device = DeviceChain::next(*device))
            result.emplace_back(device->ibdev_name);
        return result;
    }
    using Names = std::vector<std::string>;

    test::FakeTree sys_;
    test::FakeTree dev_;
};

TEST_F(Devices, NoneWithoutUverbs)
{
    EXPECT_EQ(discover().error(), ENOSYS);
}

TEST_F(Devices, NoneIsAnEmptyChain)
{
    sys_.file("class/infiniband_verbs/abi_version", "6\n");
    Result<DeviceChain> found = discover();
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->empty());
}

TEST_F(Devices, AllFields)
{
    sys_.device("rxe0", 3, "231:195");
    Result<DeviceChain> found = discover();
    ASSERT_TRUE(found);
    const verbs_sysfs_dev *device = found->first();
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(DeviceChain::next(*device), nullptr);
    EXPECT_STREQ(device->ibdev_name, "rxe0");
    EXPECT_STREQ(device->sysfs_name, "uverbs3");
    EXPECT_EQ(device->ibdev_path, sys_.path("class/infiniband/rxe0"));
    EXPECT_EQ(device->sysfs_cdev, makedev(231, 195));
    EXPECT_EQ(device->abi_ver, 2u);
    EXPECT_EQ(device->node_type, IBV_NODE_CA);
    EXPECT_EQ(device->node_guid, 0x505400fffe123456u);
    EXPECT_EQ(device->num_ports, 1u);
    EXPECT_EQ(device->driver_id, 0u);
    EXPECT_EQ(device->ibdev_idx, -1);
    EXPECT_EQ(device->flags, unsigned{VSYSFS_READ_NODE_GUID});
    EXPECT_EQ(device->time_created.tv_sec, 0);
}

TEST_F(Devices, InTheOrderOfTheirNumbers)
{
    sys_.device("c", 10, "231:202");
    sys_.device("a", 9, "231:201");
    sys_.device("b", 1, "231:193");
    EXPECT_EQ(names(), (Names{"b", "a", "c"}));
}

TEST_F(Devices, KnowTheAgeOfTheirNodes)
{
    struct stat node;
    ASSERT_EQ(stat("/dev/null", &node), 0);
    sys_.device("rxe0", 0, std::to_string(major(node.st_rdev)) + ":" + std::to_string(minor(node.st_rdev)));
    dev_.link("infiniband/uverbs0", "/dev/null");
    Result<DeviceChain> found = discover();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first()->time_created.tv_sec, node.st_mtim.tv_sec);
    EXPECT_EQ(found->first()->time_created.tv_nsec, node.st_mtim.tv_nsec);
    dev_.link("infiniband/uverbs0", "/dev/zero");
    EXPECT_EQ(discover()->first()->time_created.tv_sec, 0) << "the node of another device";
}

TEST_F(Devices, ADamagedEntryDoesNotHideOthers)
{
    sys_.device("good", 5, "231:197");
    sys_.device("gone", 0, "231:192");
    sys_.remove("class/infiniband_verbs/uverbs0/ibdev");
    sys_.device("nodev", 1, "garbage");
    sys_.device("noabi", 2, "231:194");
    sys_.file("class/infiniband_verbs/uverbs2/abi_version", "x\n");
    sys_.device("slash", 3, "231:195");
    sys_.file("class/infiniband_verbs/uverbs3/ibdev", "../../etc\n");
    sys_.file("class/infiniband_verbs/" + std::string(100, 'u') + "/ibdev", "long\n");
    sys_.device("long", 4, "231:196");
    sys_.file("class/infiniband_verbs/uverbs4/ibdev", std::string(200, 'n') + "\n");
    EXPECT_EQ(names(), (Names{"good"}));
}

TEST_F(Devices, WhatIsMissingInTheDeviceIsUnknown)
{
    sys_.device("rxe0", 0, "231:192");
    sys_.remove("class/infiniband/rxe0");
    Result<DeviceChain> found = discover();
    ASSERT_TRUE(found);
    ASSERT_NE(found->first(), nullptr);
    EXPECT_EQ(found->first()->node_type, IBV_NODE_UNKNOWN);
    EXPECT_EQ(found->first()->node_guid, 0u);
    EXPECT_EQ(found->first()->num_ports, 0u);
}

TEST_F(Devices, ModaliasIsReadOnce)
{
    sys_.device("mlx5_0", 0, "231:192");
    sys_.file("class/infiniband/mlx5_0/device/modalias", "pci:v000015B3d00001017sv*\n");
    Result<DeviceChain> found = discover();
    ASSERT_TRUE(found);
    Allocated<verbs_sysfs_dev> device = found->pop_front();
    EXPECT_STREQ(device->modalias, "");
    read_modalias(*device);
    EXPECT_STREQ(device->modalias, "pci:v000015B3d00001017sv*");
    EXPECT_NE(device->flags & VSYSFS_READ_MODALIAS, 0u);
    sys_.file("class/infiniband/mlx5_0/device/modalias", "other\n");
    read_modalias(*device);
    EXPECT_STREQ(device->modalias, "pci:v000015B3d00001017sv*");
}

Allocated<verbs_sysfs_dev> device_of_index(int index)
{
    Allocated<verbs_sysfs_dev> device = allocate<verbs_sysfs_dev>();
    device->ibdev_idx = index;
    return device;
}

bool has_smaller_index(const verbs_sysfs_dev &left, const verbs_sysfs_dev &right)
{
    return left.ibdev_idx < right.ibdev_idx;
}

TEST(DeviceChain, KeepsOrder)
{
    DeviceChain chain;
    for (int index : {4, 1, 5, 3, 2})
        chain.insert(device_of_index(index), has_smaller_index);
    chain.insert(device_of_index(0));
    DeviceChain moved(std::move(chain));
    for (int index : {1, 2, 3, 4, 5, 0}) {
        Allocated<verbs_sysfs_dev> device = moved.pop_front();
        ASSERT_TRUE(device);
        EXPECT_EQ(device->ibdev_idx, index);
        EXPECT_EQ(device->entry.next, nullptr);
    }
    EXPECT_FALSE(moved.pop_front());
}

class SameDevice : public testing::Test {
protected:
    SameDevice()
    {
        strcpy(one_.ibdev_name, "rxe0");
        strcpy(one_.sysfs_name, "uverbs0");
        one_.sysfs_cdev = makedev(231, 192);
        one_.ibdev_idx = 4;
        one_.time_created = {100, 5};
        other_ = one_;
    }
    verbs_sysfs_dev one_{};
    verbs_sysfs_dev other_{};
};

TEST_F(SameDevice, IsSame)
{
    EXPECT_TRUE(same_device(one_, other_));
    other_.node_guid = 1;
    EXPECT_TRUE(same_device(one_, other_));
}

TEST_F(SameDevice, TheIndexTellsReplacements)
{
    other_.ibdev_idx = 5;
    EXPECT_FALSE(same_device(one_, other_));
    other_.ibdev_idx = 4;
    other_.time_created = {200, 0};
    EXPECT_TRUE(same_device(one_, other_)) << "a node that was made anew";
}

TEST_F(SameDevice, WithoutIndexTheAgeDoes)
{
    other_.ibdev_idx = -1;
    EXPECT_TRUE(same_device(one_, other_));
    other_.time_created.tv_nsec = 6;
    EXPECT_FALSE(same_device(one_, other_));
}

TEST_F(SameDevice, NamesAndNumbersTellDevicesApart)
{
    strcpy(other_.ibdev_name, "rxe1");
    EXPECT_FALSE(same_device(one_, other_));
    other_ = one_;
    other_.sysfs_cdev = makedev(231, 193);
    EXPECT_FALSE(same_device(one_, other_));
}

}  // namespace
}  // namespace verbs::discovery
