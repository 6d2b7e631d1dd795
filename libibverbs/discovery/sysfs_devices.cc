// SPDX-License-Identifier: BSD-2-Clause
// Devices as sysfs shows them, and single fields from there.
#include "discovery/sysfs_devices.hh"

#include <dirent.h>
#include <sys/sysmacros.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>

#include "discovery/node_type.hh"
#include "discovery/path.hh"
#include "discovery/sysfs_file.hh"

namespace verbs::discovery {
namespace {

struct CloseDirectory {
    void operator()(DIR *directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

bool is_before(const verbs_sysfs_dev &left, const verbs_sysfs_dev &right)
{
    return strverscmp(left.sysfs_name, right.sysfs_name) < 0;
}

/// The device behind one entry of class/infiniband_verbs: null if it is none, or is going away right now.
Result<Allocated<verbs_sysfs_dev>> read_device(const char *class_dir, const char *name)
{
    Allocated<verbs_sysfs_dev> device = allocate<verbs_sysfs_dev>();
    if (!device)
        return Status(ENOMEM);
    char dir[PATH_MAX];
    char number[32];
    unsigned major_number = 0;
    unsigned minor_number = 0;
    if (!join_path(device->sysfs_name, {name}) || !join_path(dir, {class_dir, "/", name}) ||
        !read_sysfs_file(dir, "ibdev", device->ibdev_name) || device->ibdev_name[0] == '\0' ||
        strchr(device->ibdev_name, '/') != nullptr || !read_sysfs_file(dir, "dev", number) ||
        sscanf(number, "%u:%u", &major_number, &minor_number) != 2)
        return Allocated<verbs_sysfs_dev>();
    Result<uint64_t> abi = read_sysfs_number(dir, "abi_version", 10);
    if (!abi)
        return Allocated<verbs_sysfs_dev>();
    device->abi_ver = static_cast<uint32_t>(*abi);
    device->sysfs_cdev = makedev(major_number, minor_number);
    device->ibdev_idx = -1;
    return device;
}

uint32_t count_ports(const char *ibdev_path)
{
    char path[PATH_MAX];
    if (!join_path(path, {ibdev_path, "/ports"}))
        return 0;
    Directory ports(opendir(path));
    uint32_t count = 0;
    while (ports) {
        const dirent *entry = readdir(ports.get());
        if (entry == nullptr)
            break;
        count += entry->d_name[0] != '.';
    }
    return count;
}

}  // namespace

Result<DeviceChain> sysfs_devices(const char *sysfs_root)
{
    char class_dir[PATH_MAX];
    if (!join_path(class_dir, {sysfs_root, "/class/infiniband_verbs"}))
        return Status(ENAMETOOLONG);
    Directory directory(opendir(class_dir));
    if (!directory)
        return errno == ENOENT ? Status(ENOSYS) : Status::from_errno();

    DeviceChain devices;
    while (true) {
        errno = 0;
        const dirent *entry = readdir(directory.get());
        if (entry == nullptr && errno != 0)
            return Status::from_errno();
        if (entry == nullptr)
            return devices;
        if (entry->d_name[0] == '.')
            continue;
        Result<Allocated<verbs_sysfs_dev>> device = read_device(class_dir, entry->d_name);
        if (!device)
            return device.status();
        if (*device)
            devices.insert(std::move(*device), is_before);
    }
}

void read_missing_fields(verbs_sysfs_dev &device)
{
    if (device.node_type == 0) {
        Result<uint64_t> type = read_sysfs_number(device.ibdev_path, "node_type", 10);
        device.node_type = type ? node_type_of(*type) : IBV_NODE_UNKNOWN;
    }
    if ((device.flags & VSYSFS_READ_NODE_GUID) == 0) {
        device.flags |= VSYSFS_READ_NODE_GUID;
        char text[32];
        unsigned parts[4];
        if (read_sysfs_file(device.ibdev_path, "node_guid", text) &&
            sscanf(text, "%4x:%4x:%4x:%4x", &parts[0], &parts[1], &parts[2], &parts[3]) == 4)
            for (unsigned part : parts)
                device.node_guid = device.node_guid << 16 | part;
    }
    if (device.num_ports == 0)
        device.num_ports = count_ports(device.ibdev_path);
}

}  // namespace verbs::discovery
