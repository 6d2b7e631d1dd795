// SPDX-License-Identifier: BSD-2-Clause
// The list of the process, on a sysfs of its own: from many threads while devices come and go.
#include "provider/devices.hh"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "discovery/devices.hh"
#include "discovery/netlink.hh"
#include "fake_provider.hh"
#include "fake_tree.hh"

namespace verbs::provider {
namespace {

using test::FakeProvider;

class ProcessDevices : public testing::Test {
protected:
    static void SetUpTestSuite()
    {
        tree = new test::FakeTree;
        setenv("SYSFS_PATH", tree->root(), 1);
        setenv("IBV_DRIVERS", "", 1);
        FakeProvider::register_once();
    }
    static void TearDownTestSuite()
    {
        delete tree;
        tree = nullptr;
    }
    void SetUp() override
    {
        if (discovery::netlink_devices({}, "/dev"))
            GTEST_SKIP() << "the kernel lists devices of its own";
        tree->remove("class");
    }

    static inline test::FakeTree *tree = nullptr;
};

void release(DeviceArray array)
{
    for (size_t i = 0; i < array.count; ++i)
        device_unref(*verbs_get_device(array.devices.get()[i]));
}

/// What the plugin `curious` found when its constructor made a device and listed devices.
size_t found_by_plugin = SIZE_MAX;
test::FakeTree *tree_of_plugin;

TEST_F(ProcessDevices, APluginMayListThemWhileItIsLoaded)
{
    setenv("IBV_DRIVERS", PLUGINS "/libcurious", 1);
    tree->device("fake0", 0, "231:192");
    tree_of_plugin = tree;
    Result<DeviceArray> list = list_devices();
    ASSERT_TRUE(list);
    EXPECT_EQ(found_by_plugin, 2u);
    EXPECT_EQ(list->count, 2u) << "what was found before the plugin was loaded";
    release(std::move(*list));
}

TEST_F(ProcessDevices, WithoutUverbsThereIsNoList)
{
    EXPECT_EQ(list_devices().error(), ENOSYS);
}

TEST_F(ProcessDevices, ListsShareDevices)
{
    tree->device("fake0", 0, "231:192");
    Result<DeviceArray> first = list_devices();
    Result<DeviceArray> second = list_devices();
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    ASSERT_EQ(first->count, 1u);
    EXPECT_EQ(first->devices.get()[0], second->devices.get()[0]);
    EXPECT_EQ(verbs_get_device(first->devices.get()[0])->refcount, 3);
    release(std::move(*first));
    release(std::move(*second));
}

TEST_F(ProcessDevices, FromManyThreadsWhileDevicesComeAndGo)
{
    tree->device("fake0", 0, "231:192");
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&stop] {
            while (!stop) {
                Result<DeviceArray> array = list_devices();
                if (!array)
                    continue;
                for (size_t d = 0; d < array->count; ++d)
                    EXPECT_EQ(std::string(array->devices.get()[d]->name).find("fake"), 0u);
                release(std::move(*array));
            }
        });
    }
    for (int round = 0; round < 50; ++round) {
        tree->device("fake1", 1, "231:" + std::to_string(200 + round));
        tree->remove("class/infiniband_verbs/uverbs1");
    }
    stop = true;
    for (std::thread &thread : threads)
        thread.join();
    Result<DeviceArray> array = list_devices();
    ASSERT_TRUE(array);
    EXPECT_EQ(array->count, 1u);
    release(std::move(*array));
    EXPECT_EQ(FakeProvider::alive(), 1);
}

}  // namespace
}  // namespace verbs::provider

extern "C" __attribute__((visibility("default"))) void list_devices_from_plugin()
{
    using namespace verbs::provider;
    using verbs::Result;
    tree_of_plugin->device("fake1", 1, "231:193");
    Result<DeviceArray> list = list_devices();
    found_by_plugin = list ? list->count : 0;
    if (list)
        release(std::move(*list));
}
