// SPDX-License-Identifier: BSD-2-Clause
// Asking an open device what it can do.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

VERBS_EXPORT int ibv_query_device(ibv_context *context, ibv_device_attr *device_attr)
{
    // The size says that there is no more than the basic part.
    return verbs::provider::ops(context).query_device_ex(
        context, nullptr, reinterpret_cast<ibv_device_attr_ex *>(device_attr), sizeof *device_attr);
}
