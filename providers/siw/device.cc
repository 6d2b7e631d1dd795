// SPDX-License-Identifier: BSD-2-Clause
// Which devices are siw's, and what the plugin registers.
#include <infiniband/driver.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/siw-abi.h>

#include "common/memory.hh"
#include "context.hh"

namespace siw {
namespace {

constexpr verbs_match_ent kMatchTable[] = {
    {.u = {.driver_id = RDMA_DRIVER_SIW}, .kind = VERBS_MATCH_DRIVER_ID},
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
extern "C" const verbs_device_ops verbs_provider_siw;
constexpr verbs_device_ops verbs_provider_siw = {
    .name = "siw",
    .match_min_abi_version = SIW_ABI_VERSION,
    .match_max_abi_version = SIW_ABI_VERSION,
    .match_table = kMatchTable,
    .alloc_context = context_alloc,
    .alloc_device = device_alloc,
    .uninit_device = device_free,
};

PROVIDER_DRIVER(verbs_provider_siw)

}  // namespace siw
