// SPDX-License-Identifier: BSD-2-Clause
// The providers that have registered themselves.
#pragma once

#include <infiniband/verbs_provider.h>

#include <atomic>
#include <optional>

#include "provider/layouts/layout.hh"

namespace verbs::provider {

/// A registered provider. Lives as long as the process.
struct Registration {
    const verbs_device_ops *ops;
    const Layout *layout;  ///< of the objects that the provider makes
    std::optional<verbs_userspace_ops>
        userspace;                           ///< complete; of one whose devices exist without the kernel
    std::atomic<const Registration *> next;  ///< registered after this one; null at the end
};

/// Records `ops`; once, however often it is called. Any thread: constructors of plugins call it inside dlopen.
void register_driver(const verbs_device_ops *ops, const Layout &layout = kNativeLayout,
                     const std::optional<verbs_userspace_ops> &userspace = {});

/// The provider that registered first, or null.
const Registration *registered_drivers();

/// The layout with which a provider registered; ours for one that did not.
const Layout &layout_of(const verbs_device_ops &ops);

}  // namespace verbs::provider
