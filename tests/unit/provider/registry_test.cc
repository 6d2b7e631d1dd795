// SPDX-License-Identifier: BSD-2-Clause
// Registering once, twice, and from many threads.
#include "provider/registry.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

namespace verbs::provider {
namespace {

std::vector<const verbs_device_ops *> registered()
{
    std::vector<const verbs_device_ops *> result;
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next)
        result.push_back(driver->ops);
    return result;
}

verbs_device_ops complete(const char *name)
{
    return {.name = name,
            .alloc_context = [](ibv_device *, int, void *) -> verbs_context * { return nullptr; },
            .alloc_device = [](verbs_sysfs_dev *) -> verbs_device * { return nullptr; }};
}

TEST(Registry, KeepsOrderAndRegistersOnce)
{
    static const verbs_device_ops first = complete("first");
    static const verbs_device_ops second = complete("second");
    size_t before = registered().size();
    verbs_register_driver_65(&first);
    verbs_register_driver_65(&second);
    verbs_register_driver_65(&first);
    std::vector<const verbs_device_ops *> all = registered();
    ASSERT_EQ(all.size(), before + 2);
    EXPECT_EQ(all[before], &first);
    EXPECT_EQ(all[before + 1], &second);
}

TEST(Registry, OneOfANameAndNumber)
{
    static const verbs_device_ops ours = complete("same");
    static const verbs_device_ops copy = complete("same");
    static const verbs_device_ops foreign = complete("same");
    unsetenv("IBV_SHOW_WARNINGS");
    const unsigned refused = refused_registrations();
    const size_t before = registered().size();
    register_foreign(&ours, VERBS_PROVIDER_ABI);
    register_foreign(&copy, VERBS_PROVIDER_ABI);
    register_foreign(&foreign, 57);
    std::vector<const verbs_device_ops *> all = registered();
    ASSERT_EQ(all.size(), before + 2);
    EXPECT_EQ(all[before], &ours);
    EXPECT_EQ(all[before + 1], &foreign);
    EXPECT_EQ(refused_registrations(), refused + 1);
}

TEST(Registry, FromManyThreads)
{
    constexpr int kThreads = 8;
    constexpr int kDrivers = 16;
    static verbs_device_ops ops[kDrivers];
    size_t before = registered().size();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([thread] {
            for (int i = 0; i < kDrivers; ++i)
                register_driver(&ops[(i + thread) % kDrivers]);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    std::vector<const verbs_device_ops *> all = registered();
    EXPECT_EQ(all.size(), before + kDrivers);
    for (const verbs_device_ops &driver : ops)
        EXPECT_EQ(std::count(all.begin(), all.end(), &driver), 1);
}

}  // namespace
}  // namespace verbs::provider
