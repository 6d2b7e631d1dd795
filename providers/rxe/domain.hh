// SPDX-License-Identifier: BSD-2-Clause
// Parent and thread domains: who uses the objects in them, and where the memory of those comes from.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include <cstring>
#include <memory>
#include <type_traits>

#include "common/memory.hh"

namespace rxe {

struct Td {
    ibv_td td;
    uint32_t users;  // parent domains
};

/// A protection domain, or a parent domain, which has one. Both have the kernel's handle of the protection
/// domain.
struct Pd {
    ibv_pd pd;
    uint32_t users;  // parent domains, or queues in the parent domain

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
void domain_ref(uint32_t &users);
void domain_unref(uint32_t &users);
bool domain_is_used(uint32_t &users);

/// What memory is for, as allocators of parent domains are told: the driver above, the kind below, so that
/// programs can tell providers' kinds apart.
enum class Resource : uint64_t {
    kQp = uint64_t{RDMA_DRIVER_RXE} << 32,
    kSrq,
    kCq,
};

/// The part of an object that may lie in a parent domain; in zeroed memory it is in none.
struct Membership {
    Pd *domain;       // counted as a user of it; null: none
    bool own_memory;  // the object's memory is from the domain's allocator

    /// Whether one thread at a time uses the object, which then needs no lock.
    bool single_threaded() const { return domain != nullptr && domain->td != nullptr; }
};

/// Zeroed memory for an object in `pd` (null for none), which counts as its user if that is a parent domain;
/// null and errno ENOMEM.
void *member_allocate(Pd *pd, Resource resource, size_t size, size_t alignment, Membership &membership);
/// Gives it back.
void member_free(void *object, Resource resource, Membership membership);

struct MemberFree {
    Resource resource;
    template <class T>
    void operator()(T *object) const
    {
        member_free(object, resource, object->membership);
    }
};

/// Owns an object that may lie in a parent domain until it is handed out with release().
template <class T>
using Member = std::unique_ptr<T, MemberFree>;

template <class T>
Member<T> member_allocate(ibv_pd *pd, Resource resource)
{
    static_assert(std::is_trivially_destructible_v<T> && std::is_standard_layout_v<T>);
    Membership membership{};
    auto *object = static_cast<T *>(
        member_allocate(pd != nullptr ? to_pd(pd) : nullptr, resource, sizeof(T), alignof(T), membership));
    if (object != nullptr)
        object->membership = membership;
    return Member<T>(object, MemberFree{resource});
}

ibv_td *td_alloc(ibv_context *context, ibv_td_init_attr *attr);
int td_dealloc(ibv_td *td);
ibv_pd *parent_domain_alloc(ibv_context *context, ibv_parent_domain_init_attr *attr);
int parent_domain_dealloc(Pd *pd);

}  // namespace rxe
