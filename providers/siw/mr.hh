// SPDX-License-Identifier: BSD-2-Clause
// Ops of memory regions.
#pragma once

#include <infiniband/driver.h>

namespace siw {

ibv_mr *mr_reg(ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
int mr_dereg(verbs_mr *mr);

}  // namespace siw
