// SPDX-License-Identifier: BSD-2-Clause
// Which devices are rxe's, and what the plugin registers.
#include <infiniband/driver.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "common/memory.hh"
#include "context.hh"

namespace rxe {
namespace {

/// The only version of its user interface that the driver ever had with the queues as they are here.
constexpr uint32_t kAbiVersion = 2;

/// Where the kernel does not say which driver a device has (sysfs alone), the name is all there is to go by.
constexpr verbs_match_ent kMatchTable[] = {
    {.u = {.driver_id = RDMA_DRIVER_RXE}, .kind = VERBS_MATCH_DRIVER_ID},
    // sysfs does not tell the driver: where netlink is refused, the name has to do.
    {.u = {.modalias = "rdma_device:Nrxe*"}, .kind = VERBS_MATCH_MODALIAS},
    {.u = {.modalias = "rdma_device:*Nrxe*"}, .kind = VERBS_MATCH_MODALIAS},
    {.kind = VERBS_MATCH_SENTINEL},
};

verbs_device *device_alloc(verbs_sysfs_dev *)
{
    return common::allocate<verbs_device>().release();
}

void device_free(verbs_device *device)
{
    std::free(device);
}

}  // namespace

// By this name, programs that link statically refer to the provider.
extern "C" const verbs_device_ops verbs_provider_rxe;
constexpr verbs_device_ops verbs_provider_rxe = {
    .name = "rxe",
    .match_min_abi_version = kAbiVersion,
    .match_max_abi_version = kAbiVersion,
    .match_table = kMatchTable,
    .alloc_context = context_alloc,
    .import_context = context_import,
    .alloc_device = device_alloc,
    .uninit_device = device_free,
};

PROVIDER_DRIVER(verbs_provider_rxe)

}  // namespace rxe
