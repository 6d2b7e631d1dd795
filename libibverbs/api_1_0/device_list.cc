// SPDX-License-Identifier: BSD-2-Clause
// Lists of devices for programs of 2006, and what the devices are called.
#include <atomic>

#include "api_1_0/verbs.hh"
#include "provider/devices.hh"

namespace verbs::api_1_0 {
namespace {

/// A device as its list and its open contexts share it. It holds a reference to the one inside.
struct SharedDevice {
    ibv_device_1_0 device;
    std::atomic<uint32_t> users;
};
static_assert(std::is_standard_layout_v<SharedDevice>);

SharedDevice &shared(ibv_device_1_0 &device)
{
    return reinterpret_cast<SharedDevice &>(device);
}

}  // namespace

void device_ref(ibv_device_1_0 &device)
{
    shared(device).users.fetch_add(1, std::memory_order_relaxed);
}

void device_unref(ibv_device_1_0 &device)
{
    if (shared(device).users.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    provider::device_unref(*verbs_get_device(device.real_device));
    std::free(&shared(device));
}

}  // namespace verbs::api_1_0

using namespace verbs;

VERBS_EXPORT_1_0(ibv_get_device_list) ibv_device_1_0 **ibv_get_device_list_1_0(int *num)
{
    if (num != nullptr)
        *num = 0;
    int count = 0;
    ibv_device **real = ibv_get_device_list(&count);
    if (real == nullptr)
        return nullptr;
    auto **list = static_cast<ibv_device_1_0 **>(std::calloc(static_cast<size_t>(count) + 1, sizeof(void *)));
    for (int i = 0; list != nullptr && i < count; ++i) {
        auto *device = allocate<api_1_0::SharedDevice>().release();
        if (device == nullptr) {
            ibv_free_device_list_1_0(list);
            list = nullptr;
            break;
        }
        device->device.real_device = real[i];
        provider::device_ref(*verbs_get_device(real[i]));
        device->users.store(1, std::memory_order_relaxed);
        list[i] = &device->device;
    }
    ibv_free_device_list(real);
    if (list == nullptr)
        return null_with(ENOMEM);
    if (num != nullptr)
        *num = count;
    return list;
}

VERBS_EXPORT_1_0(ibv_free_device_list) void ibv_free_device_list_1_0(ibv_device_1_0 **list)
{
    if (list == nullptr)
        return;
    for (ibv_device_1_0 **device = list; *device != nullptr; ++device)
        api_1_0::device_unref(**device);
    std::free(list);
}

VERBS_EXPORT_1_0(ibv_get_device_name) const char *ibv_get_device_name_1_0(ibv_device_1_0 *device)
{
    return ibv_get_device_name(device != nullptr ? device->real_device : nullptr);
}

VERBS_EXPORT_1_0(ibv_get_device_guid) __be64 ibv_get_device_guid_1_0(ibv_device_1_0 *device)
{
    return ibv_get_device_guid(device != nullptr ? device->real_device : nullptr);
}
