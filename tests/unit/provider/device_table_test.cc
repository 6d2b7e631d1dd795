// SPDX-License-Identifier: BSD-2-Clause
// What becomes of known devices when others are found: kept, replaced, gone, unsupported.
#include "provider/device_table.hh"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <string>
#include <vector>

#include "fake_provider.hh"

namespace verbs::provider {
namespace {

using test::FakeProvider;

struct Found {
    const char *name;
    int index;
    uint32_t abi = 2;
    ibv_node_type node_type = IBV_NODE_CA;
};

discovery::DeviceChain chain_of(const std::vector<Found> &found)
{
    discovery::DeviceChain chain;
    for (const Found &one : found) {
        Allocated<verbs_sysfs_dev> device = allocate<verbs_sysfs_dev>();
        strncpy(device->ibdev_name, one.name, sizeof device->ibdev_name - 1);
        snprintf(device->sysfs_name, sizeof device->sysfs_name, "uverbs%d", one.index);
        snprintf(device->ibdev_path, sizeof device->ibdev_path, "/nowhere/class/infiniband/%s", one.name);
        device->sysfs_cdev = makedev(231, 192);
        device->ibdev_idx = one.index;
        device->abi_ver = one.abi;
        device->node_type = one.node_type;
        device->node_guid = 7;
        chain.insert(std::move(device));
    }
    return chain;
}

class DeviceTableTest : public testing::Test {
protected:
    DeviceTableTest()
    {
        unsetenv("VERBS_LOG_LEVEL");
        unsetenv("IBV_SHOW_WARNINGS");
        FakeProvider::register_once();
        FakeProvider::allocated = 0;
        FakeProvider::uninitialised = 0;
        FakeProvider::refuses = false;
        EXPECT_TRUE(table_.start({}));
    }

    /// Refreshes and gives what was said on stderr.
    std::string refresh(const std::vector<Found> &found)
    {
        testing::internal::CaptureStderr();
        table_.refresh(chain_of(found));
        return testing::internal::GetCapturedStderr();
    }

    /// The listed devices; the table holds the only references afterwards.
    std::vector<ibv_device *> list()
    {
        Result<DeviceArray> array = table_.array();
        EXPECT_TRUE(array);
        std::vector<ibv_device *> result(array->devices.get(), array->devices.get() + array->count);
        EXPECT_EQ(array->devices.get()[array->count], nullptr);
        for (ibv_device *device : result)
            device_unref(*verbs_get_device(device));
        return result;
    }

    DeviceTable table_;
};

TEST_F(DeviceTableTest, AProviderMayHaveNoUseForADeviceThatIsGone)
{
    static constexpr verbs_match_ent kLasting[] = {
        {.u = {.modalias = "rdma_device:*Nlasting*"}, .kind = VERBS_MATCH_MODALIAS},
        {.kind = VERBS_MATCH_SENTINEL},
    };
    static verbs_device device;
    static const verbs_device_ops ops = {
        .name = "lasting",
        .match_min_abi_version = 2,
        .match_max_abi_version = 2,
        .match_table = kLasting,
        .alloc_context = [](ibv_device *, int, void *) -> verbs_context * { return nullptr; },
        .alloc_device = [](verbs_sysfs_dev *) { return &device; },
    };
    verbs_register_driver_65(&ops);
    EXPECT_EQ(refresh({{"lasting0", 0}}), "");
    EXPECT_EQ(list(), std::vector{&device.device});
    EXPECT_EQ(refresh({}), "");
    EXPECT_TRUE(list().empty());
}

TEST_F(DeviceTableTest, EmptyIsAnEmptyList)
{
    EXPECT_EQ(refresh({}), "");
    EXPECT_TRUE(list().empty());
}

TEST_F(DeviceTableTest, FillsTheDevice)
{
    EXPECT_EQ(refresh({{"fake0", 3}}), "");
    ASSERT_EQ(list().size(), 1u);
    ibv_device *device = list()[0];
    EXPECT_STREQ(device->name, "fake0");
    EXPECT_STREQ(device->dev_name, "uverbs3");
    EXPECT_STREQ(device->dev_path, "/nowhere/class/infiniband_verbs/uverbs3");
    EXPECT_STREQ(device->ibdev_path, "/nowhere/class/infiniband/fake0");
    EXPECT_EQ(device->node_type, IBV_NODE_CA);
    EXPECT_EQ(device->transport_type, IBV_TRANSPORT_IB);
    verbs_device *extended = verbs_get_device(device);
    EXPECT_EQ(extended->ops, &FakeProvider::ops);
    EXPECT_EQ(extended->refcount, 1);
    ASSERT_NE(extended->sysfs, nullptr);
    EXPECT_EQ(extended->sysfs->node_guid, 7u);
    EXPECT_NE(extended->sysfs->match, nullptr);
}

TEST_F(DeviceTableTest, TransportFollowsTheNodeType)
{
    const std::pair<ibv_node_type, ibv_transport_type> expected[] = {
        {IBV_NODE_CA, IBV_TRANSPORT_IB},
        {IBV_NODE_SWITCH, IBV_TRANSPORT_IB},
        {IBV_NODE_ROUTER, IBV_TRANSPORT_IB},
        {IBV_NODE_RNIC, IBV_TRANSPORT_IWARP},
        {IBV_NODE_USNIC, IBV_TRANSPORT_USNIC},
        {IBV_NODE_USNIC_UDP, IBV_TRANSPORT_USNIC_UDP},
        {IBV_NODE_UNSPECIFIED, IBV_TRANSPORT_UNSPECIFIED},
        {IBV_NODE_UNKNOWN, IBV_TRANSPORT_UNKNOWN},
    };
    int index = 0;
    for (auto [node, transport] : expected) {
        refresh({{"fake0", index++, 2, node}});
        ASSERT_EQ(list().size(), 1u);
        EXPECT_EQ(list()[0]->transport_type, transport);
    }
}

TEST_F(DeviceTableTest, UnchangedDevicesAreKept)
{
    refresh({{"fake0", 0}, {"fake1", 1}});
    std::vector<ibv_device *> before = list();
    refresh({{"fake1", 1}, {"fake0", 0}, {"fake2", 2}});
    std::vector<ibv_device *> after = list();
    ASSERT_EQ(after.size(), 3u);
    EXPECT_EQ(after[0], before[1]) << "in the order of the last refresh";
    EXPECT_EQ(after[1], before[0]);
    EXPECT_EQ(FakeProvider::allocated, 3);
    EXPECT_EQ(FakeProvider::uninitialised, 0);
}

TEST_F(DeviceTableTest, GoneDevicesGoWithTheirLastUser)
{
    refresh({{"fake0", 0}, {"fake1", 1}});
    verbs_device &used = *verbs_get_device(list()[0]);
    device_ref(used);
    refresh({});
    EXPECT_TRUE(list().empty());
    EXPECT_EQ(FakeProvider::alive(), 1);
    EXPECT_STREQ(used.device.name, "fake0");
    device_unref(used);
    EXPECT_EQ(FakeProvider::alive(), 0);
}

TEST_F(DeviceTableTest, AReplacedDeviceIsAnother)
{
    refresh({{"fake0", 0}});
    verbs_device &old_one = *verbs_get_device(list()[0]);
    device_ref(old_one);
    refresh({{"fake0", 1}});
    ASSERT_EQ(list().size(), 1u);
    EXPECT_NE(list()[0], &old_one.device);
    EXPECT_EQ(FakeProvider::alive(), 2);
    device_unref(old_one);
    EXPECT_EQ(FakeProvider::alive(), 1);
}

TEST_F(DeviceTableTest, NothingIsLeftBehind)
{
    {
        DeviceTable table;
        ASSERT_TRUE(table.start({}));
        table.refresh(chain_of({{"fake0", 0}, {"fake1", 1}, {"other0", 2}}));
        EXPECT_EQ(FakeProvider::alive(), 2);
    }
    EXPECT_EQ(FakeProvider::alive(), 0);
}

TEST_F(DeviceTableTest, DevicesWithoutProviderAreLeftOutSilently)
{
    EXPECT_EQ(refresh({{"other0", 0}, {"fake1", 1}}), "");
    ASSERT_EQ(list().size(), 1u);
    EXPECT_STREQ(list()[0]->name, "fake1");
}

TEST_F(DeviceTableTest, TheReasonIsGivenOnceOnRequest)
{
    setenv("IBV_SHOW_WARNINGS", "1", 1);
    std::string output = refresh({{"other0", 0}});
    EXPECT_EQ(output.find("libibverbs: Warning: other0 is left out"), 0u) << output;
    EXPECT_EQ(output.find('\n'), output.size() - 1);
    EXPECT_EQ(refresh({{"other0", 0}}), "");
    EXPECT_NE(refresh({{"other0", 1}}), "") << "another device of that name";
}

TEST_F(DeviceTableTest, AnUnknownInterfaceVersionIsOneLine)
{
    std::string output = refresh({{"fake0", 0, 9}, {"fake1", 1}});
    EXPECT_EQ(output,
              "libibverbs: Warning: fake0 is left out: its kernel driver has interface version 9, provider "
              "fake knows "
              "2 to 3; a newer provider is needed\n");
    EXPECT_EQ(list().size(), 1u);
    EXPECT_EQ(refresh({{"fake0", 0, 9}, {"fake1", 1}}), "");
    EXPECT_NE(refresh({{"fake2", 2, 1}}).find("a newer kernel is needed"), std::string::npos);
}

TEST_F(DeviceTableTest, AProviderThatFailsHidesOnlyItsDevice)
{
    refresh({{"fake0", 0}});
    FakeProvider::refuses = true;
    std::string output = refresh({{"fake0", 0}, {"fake1", 1}});
    EXPECT_NE(output.find("fake1 is left out: provider fake could not set it up: Cannot allocate memory"),
              std::string::npos)
        << output;
    EXPECT_EQ(list().size(), 1u);
    FakeProvider::refuses = false;
    EXPECT_EQ(refresh({{"fake0", 0}, {"fake1", 1}}), "");
    EXPECT_EQ(list().size(), 2u) << "it may succeed later";
}

}  // namespace
}  // namespace verbs::provider
