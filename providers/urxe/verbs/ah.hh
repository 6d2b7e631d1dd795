// SPDX-License-Identifier: BSD-2-Clause
// Address handles.
#pragma once

#include <infiniband/verbs.h>

namespace urxe {

struct Ah {
    ibv_ah ah;  // must be first
    ibv_ah_attr attr;
    ibv_gid source;
};

inline const Ah &to_ah(const ibv_ah *ah)
{
    return *reinterpret_cast<const Ah *>(ah);
}

ibv_ah *ah_create(ibv_pd *pd, ibv_ah_attr *attr);
int ah_destroy(ibv_ah *ah);

}  // namespace urxe
