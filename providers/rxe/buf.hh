// SPDX-License-Identifier: BSD-2-Clause
// Ops of buffers.
#pragma once

#include <infiniband/driver.h>

namespace rxe {

void *buf_alloc(ibv_pd *pd, size_t length, ibv_buf **buf);
void buf_free(ibv_buf *buf);

}  // namespace rxe
