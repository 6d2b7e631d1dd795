// SPDX-License-Identifier: BSD-2-Clause
// Protection domains and parent domains.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "common/domain.hh"

namespace urxe {

/// What memory is for, as allocators of parent domains are told. The upper half says "urxe".
///
/// Memory that peers share is the process's heap's: a program's allocator gives that of the objects and of send queues. A
/// thread domain changes nothing: peers and the helper thread use the queues too, so that no lock could be left out.
enum class Resource : uint64_t {
    kQp = uint64_t{0x75727865} << 32,
    kSrq,
    kCq,
};

/// The number that objects of a protection domain have in common (shared::kPdHandle), unique on the host.
inline uint32_t pd_number(const ibv_pd *pd)
{
    return pd->handle;
}

/// Counts an object of the domain.
inline void pd_ref(ibv_pd *pd)
{
    common::domain_ref(common::to_pd(pd)->users);
}
inline void pd_unref(ibv_pd *pd)
{
    common::domain_unref(common::to_pd(pd)->users);
}

ibv_pd *pd_alloc(ibv_context *context);
/// An imported one is its maker's alone to deallocate: EOPNOTSUPP.
int pd_dealloc(ibv_pd *pd);
ibv_pd *pd_import(ibv_context *context, uint32_t handle);
/// Does nothing to one that is in use, or was not imported.
void pd_unimport(ibv_pd *pd);

}  // namespace urxe
