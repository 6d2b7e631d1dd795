// SPDX-License-Identifier: BSD-2-Clause
// Scatter/gather elements: those of verbs have the layout of those in a WQE.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include <cstddef>
#include <cstdint>

namespace rxe {

static_assert(sizeof(ibv_sge) == sizeof(rxe_sge) && offsetof(ibv_sge, addr) == offsetof(rxe_sge, addr) &&
              offsetof(ibv_sge, length) == offsetof(rxe_sge, length) &&
              offsetof(ibv_sge, lkey) == offsetof(rxe_sge, lkey));

/// Puts a list behind the DMA state that ends a WQE, and gives the length of what it describes; the ring's elements have room
/// for as many as the queue allows.
inline uint64_t sge_copy(rxe_dma_info &dma, const ibv_sge *list, uint32_t count)
{
    auto *to = reinterpret_cast<ibv_sge *>(&dma + 1);
    uint64_t length = 0;
    for (uint32_t i = 0; i < count; ++i) {
        to[i] = list[i];
        length += list[i].length;
    }
    return length;
}

}  // namespace rxe
