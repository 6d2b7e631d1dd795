// SPDX-License-Identifier: BSD-2-Clause
// Devices that exist without the kernel: who asks for them, what a provider may list, what becomes of it.
#include "provider/userspace.hh"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "provider/config.hh"
#include "provider/device_table.hh"
#include "provider/match.hh"
#include "provider/registry.hh"

namespace verbs::provider {
namespace {

/// What the fake provider lists, and what adding each said.
std::vector<verbs_userspace_device> listed;
std::vector<int> answers;
int failure;
std::string asked;

int list_devices(const char *which, verbs_userspace_list *list)
{
    asked = which;
    answers.clear();
    for (const verbs_userspace_device &device : listed)
        answers.push_back(add_userspace_device(*list, device).error());
    return failure;
}

verbs_device *device_alloc(verbs_sysfs_dev *)
{
    return allocate<verbs_device>().release();
}

void device_free(verbs_device *device)
{
    free(device);
}

constexpr verbs_device_ops kDeviceOps = {
    .name = "soft", .alloc_device = device_alloc, .uninit_device = device_free};
constexpr verbs_userspace_ops kOps = {
    .size = sizeof kOps, .device_ops = &kDeviceOps, .list_devices = list_devices};

verbs_userspace_device device(const char *name)
{
    return {.size = sizeof(verbs_userspace_device),
            .name = name,
            .node_guid = 0x1122,
            .node_type = IBV_NODE_CA,
            .num_ports = 1};
}

class Userspace : public testing::Test {
protected:
    Userspace()
    {
        unsetenv("VERBS_LOG_LEVEL");
        unsetenv("SOFT");
        listed.clear();
        failure = 0;
        register_driver(&kDeviceOps, VERBS_PROVIDER_ABI, kOps);
        testing::internal::CaptureStderr();
    }
    ~Userspace() override
    {
        unsetenv("SOFT");
        EXPECT_EQ(testing::internal::GetCapturedStderr(), said_);
    }

    std::vector<std::string> names(const DeviceTable &table)
    {
        Result<DeviceArray> array = table.array();
        std::vector<std::string> result;
        for (size_t i = 0; i < array->count; ++i) {
            result.emplace_back(array->devices.get()[i]->name);
            device_unref(*verbs_get_device(array->devices.get()[i]));
        }
        return result;
    }

    std::string said_;
};

TEST_F(Userspace, TheEnvironmentComesBeforeTheConfiguration)
{
    EXPECT_EQ(asked_of("soft", nullptr), nullptr);
    EXPECT_EQ(asked_of("soft", ""), nullptr);
    EXPECT_STREQ(asked_of("soft", "a"), "a");
    setenv("SOFT", "b", 1);
    EXPECT_STREQ(asked_of("soft", "a"), "b");
    setenv("SOFT", "", 1);
    EXPECT_EQ(asked_of("soft", "a"), nullptr) << "an empty variable switches it off";
}

TEST_F(Userspace, ConfigurationNamesThem)
{
    ProviderNames names;
    EXPECT_TRUE(parse_config(
        "driver soft userspace lo,eth0 # these\ndriver other userspace # none\ndriver rxe\n", "x", names));
    const NamedProvider *soft = names.first();
    EXPECT_STREQ(soft->name, "soft");
    EXPECT_TRUE(soft->is_userspace);
    EXPECT_STREQ(soft->which, "lo,eth0");
    EXPECT_STREQ(soft->next->name, "other");
    EXPECT_TRUE(soft->next->is_userspace);
    EXPECT_STREQ(soft->next->which, "");
    EXPECT_FALSE(soft->next->next->is_userspace);
}

TEST_F(Userspace, NobodyAskedNobodyListed)
{
    listed = {device("soft0")};
    asked = "nothing";
    DeviceTable table;
    ASSERT_TRUE(table.start({}));
    discovery::DeviceChain found;
    table.add_userspace(found);
    EXPECT_TRUE(found.empty());
    EXPECT_EQ(asked, "nothing") << "the provider is not even called";
}

TEST_F(Userspace, DevicesAppearAndGo)
{
    setenv("SOFT", "some", 1);
    listed = {device("soft1"), device("soft0")};
    DeviceTable table;
    ASSERT_TRUE(table.start({}));
    discovery::DeviceChain found;
    table.add_userspace(found);
    EXPECT_EQ(asked, "some");
    EXPECT_EQ(match_registered(*found.first()).provider, &kDeviceOps);
    EXPECT_EQ(userspace_ops(*found.first())->device_ops, &kDeviceOps);
    table.refresh(std::move(found));
    EXPECT_EQ(names(table), (std::vector<std::string>{"soft1", "soft0"}));

    Result<DeviceArray> held = table.array();
    verbs_device *first = verbs_get_device(held->devices.get()[0]);
    EXPECT_EQ(first->sysfs->node_guid, 0x1122u);
    EXPECT_EQ(first->sysfs->ibdev_idx, -1);
    EXPECT_STREQ(first->device.dev_path, "");

    listed = {device("soft1")};
    discovery::DeviceChain later;
    table.add_userspace(later);
    table.refresh(std::move(later));
    EXPECT_EQ(names(table), (std::vector<std::string>{"soft1"}));
    Result<DeviceArray> again = table.array();
    EXPECT_EQ(again->devices.get()[0], held->devices.get()[0]) << "what stays keeps its verbs_device";
    EXPECT_STREQ(held->devices.get()[1]->name, "soft0") << "what is used lives on";
    for (Result<DeviceArray> *list : {&held, &again})
        for (size_t i = 0; i < (*list)->count; ++i)
            device_unref(*verbs_get_device((*list)->devices.get()[i]));
}

TEST_F(Userspace, WhatCannotBeIsRefused)
{
    const std::string longest(IBV_SYSFS_NAME_MAX - 1, 'n');
    const std::string too_long(IBV_SYSFS_NAME_MAX, 'n');
    verbs_userspace_device cut = device("cut");
    cut.size = 8;
    verbs_userspace_device grown = device("grown");
    grown.size += 64;
    listed = {device(""),    device("a/b"),           device(nullptr), device(too_long.c_str()),
              cut,           device(longest.c_str()), grown,           device("same"),
              device("same")};
    discovery::DeviceChain found;
    EXPECT_TRUE(list_userspace_devices(kOps, "x", found));
    EXPECT_EQ(answers, (std::vector<int>{EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, 0, 0, 0, EEXIST}));
    size_t count = 0;
    while (found.pop_front())
        ++count;
    EXPECT_EQ(count, 3u);
    said_ = "libibverbs: Warning: the device same of provider soft is left out: there is one of that name\n";
}

TEST_F(Userspace, AFailureListsNothing)
{
    setenv("SOFT", "some", 1);
    listed = {device("soft0")};
    failure = ENFILE;
    DeviceTable table;
    ASSERT_TRUE(table.start({}));
    discovery::DeviceChain found;
    table.add_userspace(found);
    EXPECT_TRUE(found.empty());
    said_ =
        "libibverbs: Warning: provider soft cannot tell its devices (some): Too many open files in system\n";
}

TEST_F(Userspace, ADeviceOfTheKernelIsNone)
{
    verbs_sysfs_dev kernel = {};
    strcpy(kernel.ibdev_name, "soft0");
    EXPECT_EQ(userspace_ops(kernel), nullptr);
    EXPECT_NE(match_registered(kernel).provider, &kDeviceOps);
}

}  // namespace
}  // namespace verbs::provider
