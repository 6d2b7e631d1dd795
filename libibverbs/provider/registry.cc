// SPDX-License-Identifier: BSD-2-Clause
// The providers that have registered themselves: a list that only grows, at its end, without a lock.
#include "provider/registry.hh"

#include <new>

#include "base/log.hh"
#include "base/memory.hh"

namespace verbs::provider {
namespace {

std::atomic<const Registration *> first{nullptr};

}  // namespace

void register_driver(const verbs_device_ops *ops, const Layout &layout,
                     const std::optional<verbs_userspace_ops> &userspace)
{
    Allocated<void> memory(malloc(sizeof(Registration)));
    if (!memory) {
        log(LogLevel::kError, "no memory to register provider %s", ops->name);
        return;
    }
    auto *added = new (memory.get()) Registration{ops, &layout, userspace, nullptr};
    auto *link = &first;
    while (true) {
        const Registration *there = nullptr;
        if (link->compare_exchange_strong(there, added, std::memory_order_acq_rel)) {
            static_cast<void>(memory.release());
            return;
        }
        if (there->ops == ops)
            return;
        link = &const_cast<Registration *>(there)->next;
    }
}

const Registration *registered_drivers()
{
    return first.load(std::memory_order_acquire);
}

const Layout &layout_of(const verbs_device_ops &ops)
{
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next)
        if (driver->ops == &ops)
            return *driver->layout;
    return kNativeLayout;
}

}  // namespace verbs::provider
