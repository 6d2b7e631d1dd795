// SPDX-License-Identifier: BSD-2-Clause
// Address handles.
#pragma once

#include <infiniband/driver.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

namespace rxe {

/// Where a datagram goes: a number that the driver knows, or with drivers that number none, the vector itself.
struct Ah {
    ibv_ah base;
    uint32_t number;  // 0: the driver reads `vector` from the WQE
    rxe_av vector;
};

inline const Ah *to_ah(const ibv_ah *ah)
{
    return reinterpret_cast<const Ah *>(ah);
}

ibv_ah *ah_create(ibv_pd *pd, ibv_ah_attr *attr);
int ah_destroy(ibv_ah *ah);

}  // namespace rxe
