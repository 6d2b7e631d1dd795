// SPDX-License-Identifier: BSD-2-Clause
// Scatter/gather elements: those of verbs have the layout of those in a queue element.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/siw-abi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace siw {

static_assert(sizeof(ibv_sge) == sizeof(siw_sge) && offsetof(ibv_sge, addr) == offsetof(siw_sge, laddr) &&
              offsetof(ibv_sge, length) == offsetof(siw_sge, length) &&
              offsetof(ibv_sge, lkey) == offsetof(siw_sge, lkey));

inline void sge_copy(siw_sge *to, const ibv_sge *list, size_t count)
{
    if (count != 0)
        std::memcpy(to, list, count * sizeof(siw_sge));
}

}  // namespace siw
