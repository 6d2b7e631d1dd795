// SPDX-License-Identifier: BSD-2-Clause
// How a provider makes itself known.
#include <infiniband/verbs_provider.h>

#include "base/export.hh"
#include "provider/layouts/abi_34.hh"
#include "provider/registry.hh"
#include "provider/userspace.hh"

VERBS_EXPORT void verbs_register_driver_65(const verbs_device_ops *ops)
{
    verbs::provider::register_driver(ops);
}

/// For providers of that ABI. ABI-frozen.
VERBS_EXPORT void verbs_register_driver_34(const verbs_device_ops *ops)
{
    verbs::provider::register_driver(ops, verbs::provider::abi_34::kLayout);
}

VERBS_EXPORT void verbs_register_userspace_1(const verbs_userspace_ops *ops)
{
    verbs::provider::register_driver(ops->device_ops, verbs::provider::kNativeLayout,
                                     verbs::provider::complete(*ops));
}

VERBS_EXPORT int verbs_userspace_list_add(verbs_userspace_list *list, const verbs_userspace_device *device)
{
    return verbs::provider::add_userspace_device(*list, *device).error();
}
