// SPDX-License-Identifier: BSD-2-Clause
// The providers that have registered themselves.
#pragma once

#include <infiniband/driver.h>

namespace verbs::provider {

/// A registered provider. Lives as long as the process.
struct Registration {
    const verbs_device_ops *ops;
    const Registration *next;
};

/// Records `ops`; once, however often it is called. Any thread: constructors of plugins call it inside dlopen.
void register_driver(const verbs_device_ops *ops);

/// The registered providers, the newest first.
const Registration *registered_drivers();

}  // namespace verbs::provider
