// SPDX-License-Identifier: BSD-2-Clause
// Devices that exist without the kernel: asked for by the user, listed by their provider.
#include "provider/userspace.hh"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "discovery/devices.hh"
#include "provider/warning.hh"

using verbs::discovery::DeviceChain;

/// Where a provider's devices gather.
struct verbs_userspace_list {
    const verbs_userspace_ops *ops;
    const DeviceChain *earlier;  ///< of other providers and of the kernel
    DeviceChain devices;
};

namespace verbs::provider {
namespace {

/// Bit of verbs_sysfs_dev.flags: the device is a UserspaceDevice.
constexpr unsigned kIsUserspace = 1U << 31;

struct UserspaceDevice {
    verbs_sysfs_dev sysfs;  // must be first: it is freed through this
    const verbs_userspace_ops *ops;
};

bool has_name(const DeviceChain &chain, const char *name)
{
    for (const verbs_sysfs_dev *device = chain.first(); device != nullptr;
         device = DeviceChain::next(*device))
        if (std::strcmp(device->ibdev_name, name) == 0)
            return true;
    return false;
}

template <class... Arguments>
void complete(int (*&op)(Arguments...))
{
    if (op == nullptr)
        op = [](Arguments...) { return EOPNOTSUPP; };
}

}  // namespace

verbs_userspace_ops complete(const verbs_userspace_ops &registered)
{
    verbs_userspace_ops ops = {};
    std::memcpy(&ops, &registered, std::min(registered.size, sizeof ops));
    complete(ops.list_devices);
    complete(ops.query_gid);
    complete(ops.query_pkey);
    complete(ops.create_comp_channel);
    complete(ops.destroy_comp_channel);
    complete(ops.get_cq_event);
    complete(ops.get_async_event);
    return ops;
}

Status add_userspace_device(verbs_userspace_list &list, const verbs_userspace_device &device)
{
    constexpr size_t kFirstSize = offsetof(verbs_userspace_device, num_ports) + sizeof device.num_ports;
    if (device.size < kFirstSize || device.name == nullptr || device.name[0] == '\0' ||
        std::strlen(device.name) >= IBV_SYSFS_NAME_MAX || std::strchr(device.name, '/') != nullptr)
        return EINVAL;
    if (has_name(*list.earlier, device.name) || has_name(list.devices, device.name)) {
        warn(Audience::kEverybody, "the device %s of provider %s is left out: there is one of that name",
             device.name, list.ops->device_ops->name);
        return EEXIST;
    }
    Allocated<UserspaceDevice> made = allocate<UserspaceDevice>();
    if (!made)
        return ENOMEM;
    made->ops = list.ops;
    verbs_sysfs_dev &sysfs = made->sysfs;
    std::memcpy(sysfs.ibdev_name, device.name, std::strlen(device.name) + 1);
    std::memcpy(sysfs.sysfs_name, device.name, std::strlen(device.name) + 1);
    sysfs.flags = kIsUserspace | VSYSFS_READ_MODALIAS | VSYSFS_READ_NODE_GUID;
    sysfs.node_guid = device.node_guid;
    sysfs.node_type = device.node_type;
    sysfs.num_ports = device.num_ports;
    sysfs.ibdev_idx = -1;
    list.devices.insert(Allocated<verbs_sysfs_dev>(&made.release()->sysfs));
    return {};
}

const char *asked_of(const char *provider, const char *configured)
{
    char variable[64];
    size_t length = std::strlen(provider);
    if (length >= sizeof variable)
        return nullptr;
    for (size_t i = 0; i <= length; ++i)
        variable[i] = provider[i] >= 'a' && provider[i] <= 'z' ? static_cast<char>(provider[i] - 'a' + 'A')
                                                               : provider[i];
    const char *which = secure_getenv(variable);
    if (which == nullptr)
        which = configured;
    return which != nullptr && which[0] != '\0' ? which : nullptr;
}

Status list_userspace_devices(const verbs_userspace_ops &ops, const char *which, DeviceChain &found)
{
    verbs_userspace_list list = {.ops = &ops, .earlier = &found, .devices = {}};
    if (int error = ops.list_devices(which, &list); error != 0)
        return error;
    while (Allocated<verbs_sysfs_dev> device = list.devices.pop_front())
        found.insert(std::move(device));
    return {};
}

const verbs_userspace_ops *userspace_ops(const verbs_sysfs_dev &device)
{
    if ((device.flags & kIsUserspace) == 0)
        return nullptr;
    return reinterpret_cast<const UserspaceDevice &>(device).ops;
}

}  // namespace verbs::provider
