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
    int abi;  ///< its number, N of the verbs_register_driver_N that it called
    /// Of the objects that the provider makes. Null until it is recognised, and of one that is refused: then the provider
    /// does not count.
    mutable std::atomic<const Layout *> layout;
    mutable bool is_judged;  ///< recognise_registered has seen it, and guards this
    std::optional<verbs_userspace_ops>
        userspace;                           ///< complete; of one whose devices exist without the kernel
    std::atomic<const Registration *> next;  ///< registered after this one; null at the end
};

/// Records `ops`; once, however often it is called, and but one provider of a name and number. Any thread: constructors of
/// plugins call it inside dlopen.
void register_driver(const verbs_device_ops *ops, int abi = VERBS_PROVIDER_ABI,
                     const std::optional<verbs_userspace_ops> &userspace = {});

/// The same for ops that somebody else made: what could not be used is refused with one warning.
void register_foreign(const verbs_device_ops *ops, int abi,
                      const std::optional<verbs_userspace_ops> &userspace = {});

/// How many registrations have been refused.
unsigned refused_registrations();

/// The provider that registered first, or null.
const Registration *registered_drivers();

/// The layout of a provider; ours for one that did not register.
const Layout &layout_of(const verbs_device_ops &ops);

}  // namespace verbs::provider
