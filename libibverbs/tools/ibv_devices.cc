// SPDX-License-Identifier: BSD-2-Clause
// ibv_devices: lists the RDMA devices and their node GUIDs.
#include <endian.h>
#include <infiniband/verbs.h>

#include <cstdio>

int main()
{
    ibv_device **devices = ibv_get_device_list(nullptr);
    if (!devices) {
        perror("Failed to get IB devices list");
        return 1;
    }
    printf("    %-16s\t   node GUID\n", "device");
    printf("    %-16s\t----------------\n", "------");
    for (ibv_device **device = devices; *device; ++device)
        printf("    %-16s\t%016llx\n", ibv_get_device_name(*device),
               static_cast<unsigned long long>(be64toh(ibv_get_device_guid(*device))));
    ibv_free_device_list(devices);
    return 0;
}
