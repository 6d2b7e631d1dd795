// SPDX-License-Identifier: BSD-2-Clause
// Ops of memory regions.
#pragma once

#include <infiniband/driver.h>

namespace rxe {

ibv_mr *mr_reg(ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
int mr_rereg(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, size_t length, int access);
ibv_mr *mr_reg_dmabuf(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);
ibv_mr *mr_import(ibv_pd *pd, uint32_t handle);
void mr_unimport(ibv_mr *mr);
int mr_dereg(verbs_mr *mr);

}  // namespace rxe
