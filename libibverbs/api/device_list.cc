// SPDX-License-Identifier: BSD-2-Clause
// Which devices there are, and what they are called.
#include <endian.h>
#include <infiniband/driver.h>

#include "base/export.hh"
#include "base/result.hh"
#include "fork/range.hh"
#include "provider/devices.hh"

using namespace verbs;

VERBS_EXPORT ibv_device **ibv_get_device_list(int *num_devices)
{
    if (num_devices != nullptr)
        *num_devices = 0;
    int errno_before = errno;
    fork::enable_from_environment();
    Result<provider::DeviceArray> list = provider::list_devices();
    if (!list)
        return null_with(list.error());
    if (num_devices != nullptr)
        *num_devices = static_cast<int>(list->count);
    errno = errno_before;
    return list->devices.release();
}

VERBS_EXPORT void ibv_free_device_list(ibv_device **list)
{
    if (list == nullptr)
        return;
    for (ibv_device **device = list; *device != nullptr; ++device)
        provider::device_unref(*verbs_get_device(*device));
    free(list);
}

VERBS_EXPORT const char *ibv_get_device_name(ibv_device *device)
{
    return device != nullptr ? device->name : null_with(EINVAL);
}

VERBS_EXPORT __be64 ibv_get_device_guid(ibv_device *device)
{
    if (device == nullptr) {
        errno = EINVAL;
        return 0;
    }
    return htobe64(verbs_get_device(device)->sysfs->node_guid);
}

VERBS_EXPORT int ibv_get_device_index(ibv_device *device)
{
    return device != nullptr ? verbs_get_device(device)->sysfs->ibdev_idx : minus_one_with(EINVAL);
}
