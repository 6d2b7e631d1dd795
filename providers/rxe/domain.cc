// SPDX-License-Identifier: BSD-2-Clause
// Parent and thread domains. The kernel knows neither.
#include "domain.hh"

#include <atomic>

namespace rxe {

void domain_ref(uint32_t &users)
{
    std::atomic_ref(users).fetch_add(1, std::memory_order_relaxed);
}

void domain_unref(uint32_t &users)
{
    // Who then finds the domain unused may free it: after all that was done with it here.
    std::atomic_ref(users).fetch_sub(1, std::memory_order_release);
}

bool domain_is_used(uint32_t &users)
{
    return std::atomic_ref(users).load(std::memory_order_acquire) != 0;
}

void *member_allocate(Pd *pd, Resource resource, size_t size, size_t alignment, Membership &membership)
{
    if (pd != nullptr && pd->protection == nullptr)
        pd = nullptr;  // what is in a mere protection domain is the kernel's to count
    void *object = IBV_ALLOCATOR_USE_DEFAULT;
    if (pd != nullptr && pd->alloc != nullptr)
        object = pd->alloc(&pd->pd, pd->pd_context, size, alignment, static_cast<uint64_t>(resource));
    const bool own_memory = object != IBV_ALLOCATOR_USE_DEFAULT;
    if (!own_memory)
        object = std::calloc(1, size);
    if (object == nullptr)
        return common::null_with(ENOMEM);
    std::memset(object, 0, size);
    membership = {.domain = pd, .own_memory = own_memory};
    if (pd != nullptr)
        domain_ref(pd->users);
    return object;
}

void member_free(void *object, Resource resource, Membership membership)
{
    Pd *pd = membership.domain;
    if (membership.own_memory)
        pd->free(&pd->pd, pd->pd_context, object, static_cast<uint64_t>(resource));
    else
        std::free(object);
    if (pd != nullptr)
        domain_unref(pd->users);
}

ibv_td *td_alloc(ibv_context *context, ibv_td_init_attr *attr)
{
    if (attr->comp_mask != 0)
        return common::null_with(EINVAL);
    auto td = common::allocate<Td>();
    if (!td)
        return nullptr;
    td->td.context = context;
    return &td.release()->td;
}

int td_dealloc(ibv_td *ibtd)
{
    auto *td = reinterpret_cast<Td *>(ibtd);
    if (domain_is_used(td->users))
        return EBUSY;
    std::free(td);
    return 0;
}

ibv_pd *parent_domain_alloc(ibv_context *context, ibv_parent_domain_init_attr *attr)
{
    constexpr uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
                                IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
                                IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
    const bool has_allocators = (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
    const bool has_context = (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) != 0;
    if ((attr->comp_mask & ~kKnown) != 0 || attr->pd == nullptr || attr->pd->context != context ||
        to_pd(attr->pd)->protection != nullptr || (attr->td != nullptr && attr->td->context != context) ||
        (has_allocators && (attr->alloc == nullptr || attr->free == nullptr)))
        return common::null_with(EINVAL);
    auto parent = common::allocate<Pd>();
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

int parent_domain_dealloc(Pd *pd)
{
    if (domain_is_used(pd->users))
        return EBUSY;
    domain_unref(pd->protection->users);
    if (pd->td != nullptr)
        domain_unref(pd->td->users);
    std::free(pd);
    return 0;
}

}  // namespace rxe
