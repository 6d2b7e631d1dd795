// SPDX-License-Identifier: BSD-2-Clause
// Ops of protection domains.
#pragma once

#include <infiniband/driver.h>

namespace rxe {

ibv_pd *pd_alloc(ibv_context *context);
int pd_dealloc(ibv_pd *pd);
ibv_pd *pd_import(ibv_context *context, uint32_t handle);
void pd_unimport(ibv_pd *pd);

}  // namespace rxe
