// SPDX-License-Identifier: BSD-2-Clause
// The providers that have registered themselves.
#pragma once

#include <infiniband/driver.h>

#include <atomic>

namespace verbs::provider {

/// A registered provider. Lives as long as the process.
struct Registration {
    const verbs_device_ops *ops;
    std::atomic<const Registration *> next;  ///< registered after this one; null at the end
};

/// Records `ops`; once, however often it is called. Any thread: constructors of plugins call it inside dlopen.
void register_driver(const verbs_device_ops *ops);

/// The provider that registered first, or null.
const Registration *registered_drivers();

}  // namespace verbs::provider
