// SPDX-License-Identifier: BSD-2-Clause
// The known devices, brought up to date from what discovery finds.
#include "provider/device_table.hh"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "base/log.hh"
#include "provider/match.hh"
#include "provider/recognise.hh"
#include "provider/registry.hh"
#include "provider/userspace.hh"
#include "provider/warning.hh"

namespace verbs::provider {
namespace {

verbs_device *next_of(const verbs_device &device)
{
    if (device.entry.next == nullptr)
        return nullptr;
    return reinterpret_cast<verbs_device *>(reinterpret_cast<char *>(device.entry.next) -
                                            offsetof(verbs_device, entry));
}

ibv_transport_type transport_of(ibv_node_type type)
{
    switch (type) {
        case IBV_NODE_CA:
        case IBV_NODE_SWITCH:
        case IBV_NODE_ROUTER:
            return IBV_TRANSPORT_IB;
        case IBV_NODE_RNIC:
            return IBV_TRANSPORT_IWARP;
        case IBV_NODE_USNIC:
            return IBV_TRANSPORT_USNIC;
        case IBV_NODE_USNIC_UDP:
            return IBV_TRANSPORT_USNIC_UDP;
        case IBV_NODE_UNSPECIFIED:
            return IBV_TRANSPORT_UNSPECIFIED;
        default:
            return IBV_TRANSPORT_UNKNOWN;
    }
}

/// The path of the device's entry in class/infiniband_verbs: in the same sysfs as ibdev_path.
void format_dev_path(char (&path)[IBV_SYSFS_PATH_MAX], const verbs_sysfs_dev &found)
{
    const char *tail = strstr(found.ibdev_path, "/class/infiniband/");
    size_t root_length = tail != nullptr ? static_cast<size_t>(tail - found.ibdev_path) : 0;
    int written = snprintf(path, sizeof path, "%.*s/class/infiniband_verbs/%s", static_cast<int>(root_length),
                           found.ibdev_path, found.sysfs_name);
    if (written >= static_cast<int>(sizeof path))
        path[0] = '\0';
}

bool contains(const discovery::DeviceChain &chain, const verbs_sysfs_dev &device)
{
    for (const verbs_sysfs_dev *known = chain.first(); known != nullptr; known = chain.next(*known))
        if (discovery::same_device(*known, device))
            return true;
    return false;
}

}  // namespace

DeviceTable::~DeviceTable()
{
    while (first_ != nullptr)
        device_unref(*std::exchange(first_, next_of(*first_)));
}

Status DeviceTable::start(const Places &places)
{
    Status status = loader_.start(places);
    started_ = static_cast<bool>(status);
    return status;
}

void DeviceTable::refresh(discovery::DeviceChain found)
{
    recognise_registered(loader_);
    discovery::DeviceChain unsupported;
    verbs_device *first = nullptr;
    list_node *last = nullptr;
    while (Allocated<verbs_sysfs_dev> device = found.pop_front()) {
        verbs_device *kept = take(*device);
        if (kept == nullptr) {
            Match match = match_registered(*device);
            if (match.provider == nullptr) {
                if (!contains(unsupported_, *device))
                    report(*device, match);
                unsupported.insert(std::move(device));
                continue;
            }
            kept = make(device, *match.provider);
            if (kept == nullptr) {
                if (!contains(unsupported_, *device)) {
                    warn(Audience::kEverybody, "%s is left out: provider %s could not set it up: %s",
                         device->ibdev_name, match.provider->name, strerrordesc_np(errno));
                }
                unsupported.insert(std::move(device));
                continue;
            }
        }
        kept->entry = {.next = nullptr, .prev = last};
        if (last != nullptr)
            last->next = &kept->entry;
        else
            first = kept;
        last = &kept->entry;
    }

    unsupported_ = std::move(unsupported);
    std::swap(first_, first);
    while (first != nullptr)
        device_unref(*std::exchange(first, next_of(*first)));
}

/// Unlinks the device that is the same as this one, and gives it.
verbs_device *DeviceTable::take(const verbs_sysfs_dev &same)
{
    for (verbs_device *device = first_; device != nullptr; device = next_of(*device)) {
        if (!discovery::same_device(*device->sysfs, same))
            continue;
        list_node &entry = device->entry;
        if (entry.prev != nullptr)
            entry.prev->next = entry.next;
        else
            first_ = next_of(*device);
        if (entry.next != nullptr)
            entry.next->prev = entry.prev;
        return device;
    }
    return nullptr;
}

const verbs_sysfs_dev *DeviceTable::find(const verbs_sysfs_dev &listed) const
{
    for (const verbs_device *known = first_; known != nullptr; known = next_of(*known))
        if (known->sysfs->ibdev_idx == listed.ibdev_idx &&
            strcmp(known->sysfs->ibdev_name, listed.ibdev_name) == 0)
            return known->sysfs;
    return nullptr;
}

bool DeviceTable::is_known(const verbs_sysfs_dev &device) const
{
    for (const verbs_device *known = first_; known != nullptr; known = next_of(*known))
        if (discovery::same_device(*known->sysfs, device))
            return true;
    return contains(unsupported_, device);
}

/// No more than it takes: what is named like the device's driver comes first, all others only if that does not do.
NamedProvider *DeviceTable::wanted(discovery::DeviceChain &found) const
{
    recognise_registered(loader_);
    if (NamedProvider *provider = loader_.next_userspace())
        return provider;
    if (!found.empty())
        if (NamedProvider *provider = loader_.next_of_environment())
            return provider;
    for (verbs_sysfs_dev *device = found.first(); device != nullptr; device = found.next(*device)) {
        if (is_known(*device) || match_registered(*device).provider != nullptr)
            continue;
        if (NamedProvider *provider = loader_.next_for(device->driver_id))
            return provider;
        if (NamedProvider *provider = loader_.next())
            return provider;
    }
    return nullptr;
}

void DeviceTable::add_userspace(discovery::DeviceChain &found) const
{
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next) {
        if (!driver->userspace)
            continue;
        const char *which = asked_of(driver->ops->name, loader_.which_of(driver->ops->name));
        if (which == nullptr)
            continue;
        if (Status status = list_userspace_devices(*driver->userspace, which, found); !status)
            warn(Audience::kEverybody, "provider %s cannot tell its devices (%s): %s", driver->ops->name,
                 which, strerrordesc_np(status.error()));
    }
}

verbs_device *DeviceTable::make(Allocated<verbs_sysfs_dev> &found, const verbs_device_ops &provider)
{
    errno = 0;
    verbs_device *made = provider.alloc_device(found.get());
    if (made == nullptr) {
        if (errno == 0)
            errno = ENOMEM;
        return nullptr;
    }
    ibv_device &device = made->device;
    static_assert(sizeof device.name == sizeof found->ibdev_name);
    memcpy(device.name, found->ibdev_name, sizeof device.name);
    memcpy(device.dev_name, found->sysfs_name, sizeof device.dev_name);
    memcpy(device.ibdev_path, found->ibdev_path, sizeof device.ibdev_path);
    if (userspace_ops(*found) == nullptr)
        format_dev_path(device.dev_path, *found);
    device.node_type = found->node_type;
    device.transport_type = transport_of(found->node_type);
    made->ops = &provider;
    made->refcount = 1;
    made->sysfs = found.release();
    return made;
}

/// Says once why a device is not listed, and what would help.
void DeviceTable::report(const verbs_sysfs_dev &device, const Match &match) const
{
    if (match.misfit != nullptr) {
        const bool kernel_is_newer = device.abi_ver > match.misfit->match_max_abi_version;
        warn(Audience::kEverybody,
             "%s is left out: its kernel driver has interface version %u, provider %s knows %u to %u; a "
             "newer %s is "
             "needed",
             device.ibdev_name, device.abi_ver, match.misfit->name, match.misfit->match_min_abi_version,
             match.misfit->match_max_abi_version, kernel_is_newer ? "provider" : "kernel");
        return;
    }
    const char *name = provider_for(device.driver_id);
    if (name != nullptr)
        warn(Audience::kWhoAsked,
             "%s is left out: none of the configured providers is for it; provider %s is needed "
             "(lib%s-rdmav%d.so)",
             device.ibdev_name, name, name, VERBS_PROVIDER_ABI);
    else
        warn(Audience::kWhoAsked, "%s is left out: none of the configured providers is for it",
             device.ibdev_name);
}

Result<DeviceArray> DeviceTable::array() const
{
    DeviceArray result;
    for (const verbs_device *device = first_; device != nullptr; device = next_of(*device))
        ++result.count;
    result.devices.reset(static_cast<ibv_device **>(calloc(result.count + 1, sizeof(void *))));
    if (!result.devices)
        return Status(ENOMEM);
    size_t i = 0;
    for (verbs_device *device = first_; device != nullptr; device = next_of(*device)) {
        device_ref(*device);
        result.devices.get()[i++] = &device->device;
    }
    return result;
}

}  // namespace verbs::provider
