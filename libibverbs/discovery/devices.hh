// SPDX-License-Identifier: BSD-2-Clause
// Which RDMA devices with a user interface the system has.
#pragma once

#include <infiniband/driver.h>

#include "base/memory.hh"
#include "base/result.hh"

namespace verbs::discovery {

/// Devices in the order in which the kernel made them, linked through their `entry`. Owns them.
class DeviceChain {
public:
    DeviceChain() = default;
    DeviceChain(DeviceChain &&other) noexcept;
    DeviceChain &operator=(DeviceChain &&other) noexcept;
    ~DeviceChain() { clear(); }

    bool empty() const { return first_ == nullptr; }
    const verbs_sysfs_dev *first() const { return first_; }
    verbs_sysfs_dev *first() { return first_; }
    static const verbs_sysfs_dev *next(const verbs_sysfs_dev &device);
    static verbs_sysfs_dev *next(verbs_sysfs_dev &device)
    {
        return const_cast<verbs_sysfs_dev *>(next(static_cast<const verbs_sysfs_dev &>(device)));
    }

    using Before = bool(const verbs_sysfs_dev &left, const verbs_sysfs_dev &right);
    /// Adds the device in front of the first one that it comes `before`, or at the end.
    void insert(Allocated<verbs_sysfs_dev> device, Before *before = nullptr);
    /// The first device, or null when none is left.
    Allocated<verbs_sysfs_dev> pop_front();
    void clear();

private:
    verbs_sysfs_dev *first_ = nullptr;
};

/// Devices of an earlier discovery.
struct KnownDevices {
    /// The one with the kernel's index and the name of `listed`, or null.
    const verbs_sysfs_dev *(*find)(const void *table, const verbs_sysfs_dev &listed) = nullptr;
    const void *table = nullptr;
};

/// Where to look. Tests point these at trees of their own.
struct Sources {
    const char *sysfs_root = nullptr;  ///< null: discovery::sysfs_root()
    const char *dev_root = "/dev";
    bool netlink = true;
    KnownDevices known = {};  ///< need not be asked for again, as long as their nodes are the same
};

/// The devices of this network namespace that have a uverbs interface: from RDMA netlink where the kernel
/// answers there (an empty list is an answer: sysfs may show devices of other namespaces), else from sysfs,
/// with the same result but for driver_id (0) and ibdev_idx (-1), which sysfs does not know. Whether there is
/// a node in /dev does not matter. ENOSYS: the system has no uverbs at all (no module, not built into the
/// kernel); ENOMEM; those of reading sysfs. Any thread.
Result<DeviceChain> discover_devices(const Sources &sources = {});

/// Fills `modalias`, or leaves it empty where the device has none (software devices). Looks only once.
void read_modalias(verbs_sysfs_dev &device);

/// Whether both are the same device of the kernel: not one that was removed and another that took its name.
bool same_device(const verbs_sysfs_dev &left, const verbs_sysfs_dev &right);

}  // namespace verbs::discovery
