// SPDX-License-Identifier: BSD-2-Clause
// Memory regions.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

namespace urxe {

struct Mr {
    verbs_mr verbs;  // must be first
    uint32_t index;
};

ibv_mr *mr_register(ibv_pd *pd, void *address, size_t length, uint64_t iova, int access);
ibv_mr *mr_alloc_null(ibv_pd *pd);
int mr_reregister(verbs_mr *mr, int flags, ibv_pd *pd, void *address, size_t length, int access);
int mr_deregister(verbs_mr *mr);
int mr_advise(ibv_pd *pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge *list, uint32_t count);

}  // namespace urxe
