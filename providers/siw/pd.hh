// SPDX-License-Identifier: BSD-2-Clause
// Ops of protection domains.
#pragma once

#include <infiniband/driver.h>

namespace siw {

ibv_pd *pd_alloc(ibv_context *context);
int pd_dealloc(ibv_pd *pd);

}  // namespace siw
