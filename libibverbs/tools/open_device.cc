// SPDX-License-Identifier: BSD-2-Clause
// Finding a device by name.
#include "open_device.hh"

#include <cstdio>
#include <cstring>

namespace tools {

ibv_context *open_device(const char *name, const char *no_device)
{
    ibv_device **devices = ibv_get_device_list(nullptr);
    if (!devices) {
        perror("Failed to get IB devices list");
        return nullptr;
    }
    ibv_device **device = devices;
    while (name && *device && strcmp(ibv_get_device_name(*device), name) != 0)
        ++device;
    ibv_context *context = nullptr;
    if (!*device && name)
        fprintf(stderr, "IB device %s not found\n", name);
    else if (!*device)
        fprintf(stderr, "%s\n", no_device);
    else if (!(context = ibv_open_device(*device)))
        fprintf(stderr, "Couldn't get context for %s\n", ibv_get_device_name(*device));
    ibv_free_device_list(devices);
    return context;
}

}  // namespace tools
