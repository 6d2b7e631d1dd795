// SPDX-License-Identifier: BSD-2-Clause
// Which devices there are: netlink first, sysfs where the kernel does not answer there.
#include "discovery/devices.hh"

#include <sys/stat.h>

#include <climits>
#include <cstring>

#include "base/log.hh"
#include "discovery/netlink.hh"
#include "discovery/path.hh"
#include "discovery/sysfs_devices.hh"
#include "discovery/sysfs_file.hh"

namespace verbs::discovery {
namespace {

/// The kernel gives out numbers of character devices anew, so their names do not tell which device is older.
bool is_older(const verbs_sysfs_dev &left, const verbs_sysfs_dev &right)
{
    const timespec &first = left.time_created;
    const timespec &second = right.time_created;
    if (first.tv_sec == 0 || second.tv_sec == 0)
        return false;
    return first.tv_sec != second.tv_sec ? first.tv_sec < second.tv_sec : first.tv_nsec < second.tv_nsec;
}

void read_time_created(const char *dev_root, verbs_sysfs_dev &device)
{
    if (device.time_created.tv_sec != 0)
        return;
    ErrnoGuard keep;
    char path[PATH_MAX];
    struct stat node;
    if (join_path(path, {dev_root, "/infiniband/", device.sysfs_name}) && stat(path, &node) == 0 &&
        S_ISCHR(node.st_mode) && node.st_rdev == device.sysfs_cdev)
        device.time_created = node.st_mtim;
}

Result<DeviceChain> complete(DeviceChain found, const char *sysfs, const char *dev_root)
{
    DeviceChain devices;
    while (Allocated<verbs_sysfs_dev> device = found.pop_front()) {
        if (!join_path(device->ibdev_path, {sysfs, "/class/infiniband/", device->ibdev_name}))
            return Status(ENAMETOOLONG);
        read_missing_fields(*device);
        read_time_created(dev_root, *device);
        bool has_index = device->ibdev_idx >= 0;
        devices.insert(std::move(device), has_index ? nullptr : is_older);
    }
    return devices;
}

}  // namespace

Result<DeviceChain> discover_devices(const Sources &sources)
{
    const char *sysfs = sources.sysfs_root != nullptr ? sources.sysfs_root : sysfs_root();
    if (sources.netlink) {
        Result<DeviceChain> found = netlink_devices(sources.known, sources.dev_root);
        if (found)
            return complete(std::move(*found), sysfs, sources.dev_root);
        log(LogLevel::kDebug, "RDMA netlink does not list devices (%s); asking %s",
            strerrordesc_np(found.error()), sysfs);
    }
    Result<DeviceChain> found = sysfs_devices(sysfs);
    if (!found)
        return found.status();
    return complete(std::move(*found), sysfs, sources.dev_root);
}

}  // namespace verbs::discovery
