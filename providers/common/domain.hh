// SPDX-License-Identifier: BSD-2-Clause
// Parent and thread domains: who uses the objects in them, and where the memory of those comes from.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include "common/memory.hh"

namespace common {

struct Td {
    ibv_td td;
    uint32_t users;  // parent domains
};

/// A protection domain, or a parent domain, which has one. Both have the handle of the protection domain.
struct Pd {
    ibv_pd pd;
    uint32_t users;  // parent domains; queues in the parent domain; whatever else the provider counts

    // Of a parent domain alone; null elsewhere.
    Pd *protection;
    Td *td;
    decltype(ibv_parent_domain_init_attr::alloc) alloc;
    decltype(ibv_parent_domain_init_attr::free) free;
    void *pd_context;
};

inline Pd *to_pd(ibv_pd *pd)
{
    return reinterpret_cast<Pd *>(pd);
}

/// Counts users of a domain. Any thread.
inline void domain_ref(uint32_t &users)
{
    std::atomic_ref(users).fetch_add(1, std::memory_order_relaxed);
}
inline void domain_unref(uint32_t &users)
{
    // Who then finds the domain unused may free it: after all that was done with it here.
    std::atomic_ref(users).fetch_sub(1, std::memory_order_release);
}
inline bool domain_is_used(uint32_t &users)
{
    return std::atomic_ref(users).load(std::memory_order_acquire) != 0;
}

/// The part of an object that may lie in a parent domain; in zeroed memory it is in none.
struct Membership {
    Pd *domain;       // counted as a user of it; null: none
    bool own_memory;  // the object's memory is from the domain's allocator

    /// Whether one thread at a time uses the object, which then needs no lock.
    bool single_threaded() const { return domain != nullptr && domain->td != nullptr; }
};

/// Zeroed memory for an object in `pd` (null for none), which counts as its user if that is a parent domain; null and errno
/// ENOMEM. `resource` says what the memory is for, as allocators of parent domains are told: the driver above 32 bits of
/// kind, so that programs can tell providers' kinds apart.
inline void *member_allocate(Pd *pd, uint64_t resource, size_t size, size_t alignment, Membership &membership)
{
    if (pd != nullptr && pd->protection == nullptr)
        pd = nullptr;  // what is in a mere protection domain is not counted here
    void *object = IBV_ALLOCATOR_USE_DEFAULT;
    if (pd != nullptr && pd->alloc != nullptr)
        object = pd->alloc(&pd->pd, pd->pd_context, size, alignment, resource);
    const bool own_memory = object != IBV_ALLOCATOR_USE_DEFAULT;
    if (!own_memory)
        object = std::calloc(1, size);
    if (object == nullptr)
        return null_with(ENOMEM);
    std::memset(object, 0, size);
    membership = {.domain = pd, .own_memory = own_memory};
    if (pd != nullptr)
        domain_ref(pd->users);
    return object;
}
/// Gives it back.
inline void member_free(void *object, uint64_t resource, Membership membership)
{
    Pd *pd = membership.domain;
    if (membership.own_memory)
        pd->free(&pd->pd, pd->pd_context, object, resource);
    else
        std::free(object);
    if (pd != nullptr)
        domain_unref(pd->users);
}

template <class Resource>
struct MemberFree {
    Resource resource;
    template <class T>
    void operator()(T *object) const
    {
        member_free(object, static_cast<uint64_t>(resource), object->membership);
    }
};

/// Owns an object that may lie in a parent domain until it is handed out with release().
template <class T, class Resource>
using Member = std::unique_ptr<T, MemberFree<Resource>>;

template <class T, class Resource>
Member<T, Resource> member_allocate(ibv_pd *pd, Resource resource)
{
    static_assert(std::is_trivially_destructible_v<T> && std::is_standard_layout_v<T>);
    Membership membership{};
    auto *object =
        static_cast<T *>(member_allocate(pd != nullptr ? to_pd(pd) : nullptr, static_cast<uint64_t>(resource),
                                         sizeof(T), alignof(T), membership));
    if (object != nullptr)
        object->membership = membership;
    return Member<T, Resource>(object, MemberFree<Resource>{resource});
}

inline ibv_td *td_alloc(ibv_context *context, ibv_td_init_attr *attr)
{
    if (attr->comp_mask != 0)
        return null_with(EINVAL);
    auto td = allocate<Td>();
    if (!td)
        return nullptr;
    td->td.context = context;
    return &td.release()->td;
}

inline int td_dealloc(ibv_td *ibtd)
{
    auto *td = reinterpret_cast<Td *>(ibtd);
    if (domain_is_used(td->users))
        return EBUSY;
    std::free(td);
    return 0;
}

inline ibv_pd *parent_domain_alloc(ibv_context *context, ibv_parent_domain_init_attr *attr)
{
    constexpr uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
                                IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
                                IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
    const bool has_allocators = (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
    const bool has_context = (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) != 0;
    if ((attr->comp_mask & ~kKnown) != 0 || attr->pd == nullptr || attr->pd->context != context ||
        to_pd(attr->pd)->protection != nullptr || (attr->td != nullptr && attr->td->context != context) ||
        (has_allocators && (attr->alloc == nullptr || attr->free == nullptr)))
        return null_with(EINVAL);
    auto parent = allocate<Pd>();
    if (!parent)
        return nullptr;
    parent->pd = *attr->pd;
    parent->protection = to_pd(attr->pd);
    parent->td = reinterpret_cast<Td *>(attr->td);
    parent->alloc = has_allocators ? attr->alloc : nullptr;
    parent->free = has_allocators ? attr->free : nullptr;
    parent->pd_context = has_context ? attr->pd_context : nullptr;
    domain_ref(parent->protection->users);
    if (parent->td != nullptr)
        domain_ref(parent->td->users);
    return &parent.release()->pd;
}

inline int parent_domain_dealloc(Pd *pd)
{
    if (domain_is_used(pd->users))
        return EBUSY;
    domain_unref(pd->protection->users);
    if (pd->td != nullptr)
        domain_unref(pd->td->users);
    std::free(pd);
    return 0;
}

}  // namespace common
