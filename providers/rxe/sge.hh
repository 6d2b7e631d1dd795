// SPDX-License-Identifier: BSD-2-Clause
// Scatter/gather elements: those of verbs have the layout of those in a WQE.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rxe {

static_assert(sizeof(ibv_sge) == sizeof(rxe_sge) && offsetof(ibv_sge, addr) == offsetof(rxe_sge, addr) &&
              offsetof(ibv_sge, length) == offsetof(rxe_sge, length) &&
              offsetof(ibv_sge, lkey) == offsetof(rxe_sge, lkey));

inline uint64_t sge_length(const ibv_sge *list, uint32_t count)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < count; ++i)
        length += list[i].length;
    return length;
}

/// Puts a list behind the DMA state that ends a WQE; the ring's elements have room for as many as the queue allows.
inline void sge_copy(rxe_dma_info &dma, const ibv_sge *list, uint32_t count)
{
    if (count != 0)
        std::memcpy(reinterpret_cast<char *>(&dma + 1), list, count * sizeof(rxe_sge));
}

}  // namespace rxe
