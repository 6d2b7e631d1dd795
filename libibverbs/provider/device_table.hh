// SPDX-License-Identifier: BSD-2-Clause
// The known devices, brought up to date from what discovery finds.
#pragma once

#include <infiniband/driver.h>

#include "base/memory.hh"
#include "base/result.hh"
#include "discovery/devices.hh"
#include "provider/devices.hh"
#include "provider/loader.hh"
#include "provider/match.hh"

namespace verbs::provider {

/// Holds one reference on each device that was there at the last refresh. Not for two threads at once.
class DeviceTable {
public:
    DeviceTable() = default;
    DeviceTable(const DeviceTable &) = delete;
    DeviceTable &operator=(const DeviceTable &) = delete;
    ~DeviceTable();

    /// Reads the configuration of providers, once, before anything else. ENOMEM.
    Status start(const Places &places);
    bool is_started() const { return started_; }

    /// The device with the index and the name of `listed`, as it was at the last refresh; or null.
    const verbs_sysfs_dev *find(const verbs_sysfs_dev &listed) const;

    /// A provider that is to be loaded before a refresh with `found`, since a device may need it; or null.
    NamedProvider *wanted(discovery::DeviceChain &found) const;

    /// Loads it. Called without any lock.
    void load(const NamedProvider &provider) const { loader_.load(provider); }

    /// Adds the userspace devices that the user asked for behind `found`. Called when nothing is wanted any more.
    void add_userspace(discovery::DeviceChain &found) const;

    /// Takes `found` as the devices that are there now: keeps those that were there before, makes new ones, lets go of
    /// the rest.
    void refresh(discovery::DeviceChain found);

    /// The devices in the order of the last refresh, with a reference on each. ENOMEM.
    Result<DeviceArray> array() const;

private:
    verbs_device *take(const verbs_sysfs_dev &same);
    bool is_known(const verbs_sysfs_dev &device) const;
    verbs_device *make(Allocated<verbs_sysfs_dev> &found, const verbs_device_ops &provider);
    void report(const verbs_sysfs_dev &device, const Match &match) const;

    verbs_device *first_ = nullptr;  // linked through `entry`
    discovery::DeviceChain unsupported_;
    Loader loader_;
    bool started_ = false;
};

}  // namespace verbs::provider
