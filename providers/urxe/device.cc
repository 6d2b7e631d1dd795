// SPDX-License-Identifier: BSD-2-Clause
// Which devices there are: one above each network interface that the user names.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "common/memory.hh"
#include "context.hh"
#include "verbs/cq.hh"
#include "verbs/event.hh"

namespace urxe {
namespace {

constexpr char kPrefix[] = "urxe_";

/// An EUI-64 (IBTA 4.1.2): from the interface's address; where that has none (lo), a local one from its name.
uint64_t guid_of(const Interface &interface)
{
    uint64_t mac = 0;
    for (uint8_t byte : interface.mac)
        mac = mac << 8 | byte;
    if (mac == 0) {
        uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
        for (const char *c = interface.name; *c != '\0'; ++c)
            hash = (hash ^ static_cast<uint8_t>(*c)) * 0x100000001b3;
        return (hash & ~(uint64_t{3} << 56)) | uint64_t{2} << 56;
    }
    mac ^= uint64_t{2} << 40;
    return (mac >> 24) << 40 | uint64_t{0xfffe} << 24 | (mac & 0xffffff);
}

int add(void *data, const char *name)
{
    Interface interface;
    if (int error = interface_read(name, interface); error != 0) {
        __verbs_log(
            nullptr, VERBS_LOG_WARN,
            "urxe: there is no network interface '%s' (%s); name those that `ip link` shows, or 'auto'", name,
            strerrordesc_np(error));
        return 0;
    }
    char device_name[sizeof kPrefix + IF_NAMESIZE];
    std::snprintf(device_name, sizeof device_name, "%s%s", kPrefix, name);
    const verbs_userspace_device device = {.size = sizeof device,
                                           .name = device_name,
                                           .node_guid = guid_of(interface),
                                           .node_type = IBV_NODE_CA,
                                           .num_ports = 1};
    const int error = verbs_userspace_list_add(static_cast<verbs_userspace_list *>(data), &device);
    return error == EEXIST ? 0 : error;
}

int list_devices(const char *which, verbs_userspace_list *list)
{
    return interfaces_named(which, add, list);
}

verbs_device *device_alloc(verbs_sysfs_dev *sysfs)
{
    common::Allocated<Device> device = common::allocate<Device>();
    if (!device)
        return nullptr;
    pthread_mutex_init(&device->lock, nullptr);
    std::snprintf(device->interface, sizeof device->interface, "%s",
                  sysfs->ibdev_name + std::size(kPrefix) - 1);
    return &device.release()->verbs;
}

void device_free(verbs_device *verbs)
{
    auto *device = reinterpret_cast<Device *>(verbs);
    pthread_mutex_destroy(&device->lock);
    std::free(device);
}

}  // namespace

// By this name, programs that link statically refer to the provider.
extern "C" const verbs_device_ops verbs_provider_urxe;
constexpr verbs_device_ops verbs_provider_urxe = {
    .name = "urxe",
    .alloc_context = context_alloc,
    .import_context = context_import,
    .alloc_device = device_alloc,
    .uninit_device = device_free,
};

constexpr verbs_userspace_ops kUserspaceOps = {
    .size = sizeof kUserspaceOps,
    .device_ops = &verbs_provider_urxe,
    .list_devices = list_devices,
    .query_gid = gid_query,
    .query_pkey = pkey_query,
    .create_comp_channel = comp_channel_create,
    .destroy_comp_channel = comp_channel_destroy,
    .get_cq_event = comp_channel_get_event,
    .get_async_event = event_get,
};

PROVIDER_USERSPACE(kUserspaceOps)

}  // namespace urxe
