// SPDX-License-Identifier: BSD-2-Clause
// What rxe's objects have parent domains for.
#pragma once

#include "common/domain.hh"

namespace rxe {

using common::Member;
using common::member_allocate;
using common::Membership;
using common::Pd;
using common::to_pd;

/// What memory is for.
enum class Resource : uint64_t {
    kQp = uint64_t{RDMA_DRIVER_RXE} << 32,
    kSrq,
    kCq,
};

inline void member_free(void *object, Resource resource, Membership membership)
{
    common::member_free(object, static_cast<uint64_t>(resource), membership);
}

}  // namespace rxe
