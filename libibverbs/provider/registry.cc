// SPDX-License-Identifier: BSD-2-Clause
// The providers that have registered themselves: a list that only grows, at its end, without a lock.
#include "provider/registry.hh"

#include <cstring>
#include <new>

#include "base/log.hh"
#include "base/memory.hh"
#include "provider/flaws.hh"
#include "provider/warning.hh"

namespace verbs::provider {
namespace {

std::atomic<const Registration *> first{nullptr};
std::atomic<unsigned> refused{0};

bool has_name_of(const verbs_device_ops &ops, const verbs_device_ops &other)
{
    return ops.name != nullptr && other.name != nullptr && strcmp(ops.name, other.name) == 0;
}

}  // namespace

void register_driver(const verbs_device_ops *ops, int abi,
                     const std::optional<verbs_userspace_ops> &userspace)
{
    Allocated<void> memory(malloc(sizeof(Registration)));
    if (!memory) {
        log(LogLevel::kError, "no memory to register provider %s", ops->name);
        return;
    }
    auto *added = new (memory.get()) Registration{
        ops, abi, abi == VERBS_PROVIDER_ABI ? &kNativeLayout : nullptr, false, userspace, nullptr};
    auto *link = &first;
    while (true) {
        const Registration *there = nullptr;
        if (link->compare_exchange_strong(there, added, std::memory_order_acq_rel)) {
            static_cast<void>(memory.release());
            return;
        }
        if (there->ops == ops)
            return;
        if (there->abi == abi && has_name_of(*there->ops, *ops)) {
            ++refused;
            warn(Audience::kWhoAsked, "provider %s is registered by %s already; that of %s is ignored",
                 ops->name, file_of(there->ops), file_of(ops));
            return;
        }
        link = &const_cast<Registration *>(there)->next;
    }
}

void register_foreign(const verbs_device_ops *ops, int abi,
                      const std::optional<verbs_userspace_ops> &userspace)
{
    // The loader tells of a plugin that registers nothing.
    if (ops == nullptr)
        return;
    const char *flaw = flaw_of(ops);
    if (flaw == nullptr) {
        register_driver(ops, abi, userspace);
        return;
    }
    ++refused;
    warn(Audience::kEverybody, "the provider of %s is ignored: %s", file_of(ops), flaw);
}

unsigned refused_registrations()
{
    return refused;
}

const Registration *registered_drivers()
{
    return first.load(std::memory_order_acquire);
}

const Layout &layout_of(const verbs_device_ops &ops)
{
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next)
        if (driver->ops == &ops)
            if (const Layout *layout = driver->layout.load(std::memory_order_acquire))
                return *layout;
    return kNativeLayout;
}

}  // namespace verbs::provider
