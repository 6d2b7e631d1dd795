// SPDX-License-Identifier: BSD-2-Clause
// How a provider makes itself known.
#include <infiniband/verbs_provider.h>

#include "base/export.hh"
#include "provider/registry.hh"
#include "provider/userspace.hh"

VERBS_EXPORT void verbs_register_driver_65(const verbs_device_ops *ops)
{
    verbs::provider::register_foreign(ops, VERBS_PROVIDER_ABI);
}

// For providers of foreign numbers. ABI-frozen.

VERBS_EXPORT void verbs_register_driver_34(const verbs_device_ops *ops)
{
    verbs::provider::register_foreign(ops, 34);
}

VERBS_EXPORT void verbs_register_driver_57(const verbs_device_ops *ops)
{
    verbs::provider::register_foreign(ops, 57);
}

VERBS_EXPORT void verbs_register_driver_59(const verbs_device_ops *ops)
{
    verbs::provider::register_foreign(ops, 59);
}

VERBS_EXPORT void verbs_register_driver_64(const verbs_device_ops *ops)
{
    verbs::provider::register_foreign(ops, 64);
}

VERBS_EXPORT void verbs_register_userspace_1(const verbs_userspace_ops *ops)
{
    verbs::provider::register_foreign(ops->device_ops, VERBS_PROVIDER_ABI, verbs::provider::complete(*ops));
}

VERBS_EXPORT int verbs_userspace_list_add(verbs_userspace_list *list, const verbs_userspace_device *device)
{
    return verbs::provider::add_userspace_device(*list, *device).error();
}
