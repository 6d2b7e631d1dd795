// SPDX-License-Identifier: BSD-2-Clause
// How a provider makes itself known.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/layouts/abi_34.hh"
#include "provider/registry.hh"

VERBS_EXPORT void verbs_register_driver_65(const verbs_device_ops *ops)
{
    verbs::provider::register_driver(ops);
}

/// For providers of that ABI. ABI-frozen.
VERBS_EXPORT void verbs_register_driver_34(const verbs_device_ops *ops)
{
    verbs::provider::register_driver(ops, verbs::provider::abi_34::kLayout);
}
