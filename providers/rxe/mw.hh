// SPDX-License-Identifier: BSD-2-Clause
// Ops of memory windows.
#pragma once

#include <infiniband/driver.h>

namespace rxe {

ibv_mw *mw_alloc(ibv_pd *pd, ibv_mw_type type);
int mw_dealloc(ibv_mw *mw);

}  // namespace rxe
