// SPDX-License-Identifier: BSD-2-Clause
// Which provider a device belongs to.
#include "provider/match.hh"

#include <fnmatch.h>

#include <cstdio>
#include <optional>

#include "discovery/devices.hh"
#include "discovery/sysfs_file.hh"
#include "provider/registry.hh"
#include "provider/userspace.hh"

namespace verbs::provider {
namespace {

constexpr char kNamePrefix[] = "rdma_device:N";

struct PciId {
    uint16_t vendor;
    uint16_t device;
};

std::optional<PciId> pci_id(verbs_sysfs_dev &device)
{
    discovery::read_modalias(device);
    unsigned vendor = 0;
    unsigned model = 0;
    if (sscanf(device.modalias, "pci:v%8xd%8x", &vendor, &model) != 2) {
        char directory[sizeof device.ibdev_path + 8];
        snprintf(directory, sizeof directory, "%s/device", device.ibdev_path);
        Result<uint64_t> vendor_file = discovery::read_sysfs_number(directory, "vendor", 16);
        Result<uint64_t> device_file = discovery::read_sysfs_number(directory, "device", 16);
        if (!vendor_file || !device_file || *vendor_file > UINT16_MAX || *device_file > UINT16_MAX)
            return std::nullopt;
        vendor = static_cast<unsigned>(*vendor_file);
        model = static_cast<unsigned>(*device_file);
    }
    return PciId{static_cast<uint16_t>(vendor), static_cast<uint16_t>(model)};
}

bool knows_drivers(const verbs_match_ent *table)
{
    for (const verbs_match_ent *row = table; row->kind != VERBS_MATCH_SENTINEL; ++row)
        if (row->kind == VERBS_MATCH_DRIVER_ID)
            return true;
    return false;
}

bool fits_name(const char *pattern, const verbs_sysfs_dev &device)
{
    char name[sizeof kNamePrefix + sizeof device.ibdev_name];
    snprintf(name, sizeof name, "%s%s", kNamePrefix, device.ibdev_name);
    return fnmatch(pattern, name, 0) == 0;
}

bool fits_modalias(const char *pattern, verbs_sysfs_dev &device)
{
    discovery::read_modalias(device);
    return device.modalias[0] != '\0' && fnmatch(pattern, device.modalias, 0) == 0;
}

const verbs_match_ent *fitting_row(const verbs_match_ent *table, verbs_sysfs_dev &device)
{
    const bool goes_by_name = device.driver_id == 0 || !knows_drivers(table);
    for (const verbs_match_ent *row = table; row->kind != VERBS_MATCH_SENTINEL; ++row) {
        bool fits = false;
        switch (row->kind) {
            case VERBS_MATCH_PCI:
                if (std::optional<PciId> id = pci_id(device))
                    fits = id->vendor == row->vendor && id->device == row->device;
                break;
            case VERBS_MATCH_MODALIAS:
                fits = (goes_by_name && fits_name(row->u.modalias, device)) ||
                       fits_modalias(row->u.modalias, device);
                break;
            case VERBS_MATCH_DRIVER_ID:
                fits = device.driver_id != 0 && device.driver_id == row->u.driver_id;
                break;
            default:
                break;  // a kind that a newer library knows
        }
        if (fits)
            return row;
    }
    return nullptr;
}

}  // namespace

bool is_match(const verbs_device_ops &ops, verbs_sysfs_dev &device)
{
    device.match = nullptr;
    if (ops.match_device != nullptr) {
        discovery::read_modalias(device);
        return ops.match_device(&device);
    }
    if (ops.match_table != nullptr)
        device.match = fitting_row(ops.match_table, device);
    return device.match != nullptr;
}

bool speaks_abi_of(const verbs_device_ops &ops, const verbs_sysfs_dev &device)
{
    return device.abi_ver >= ops.match_min_abi_version && device.abi_ver <= ops.match_max_abi_version;
}

Match match_registered(verbs_sysfs_dev &device)
{
    Match found;
    if (const verbs_userspace_ops *userspace = userspace_ops(device)) {
        found.provider = userspace->device_ops;
        return found;
    }
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next) {
        if (driver->userspace || driver->layout == nullptr || !is_match(*driver->ops, device))
            continue;
        if (speaks_abi_of(*driver->ops, device)) {
            found.provider = driver->ops;
            return found;
        }
        if (found.misfit == nullptr)
            found.misfit = driver->ops;
    }
    device.match = nullptr;
    return found;
}

}  // namespace verbs::provider
