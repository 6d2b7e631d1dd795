// SPDX-License-Identifier: BSD-2-Clause
// Buffers (ibv_alloc_buf): memory that peers map.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

namespace urxe {

void *buf_alloc(ibv_pd *pd, size_t size, ibv_buf **buf);
void buf_free(ibv_buf *buf);

}  // namespace urxe
