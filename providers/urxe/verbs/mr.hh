// SPDX-License-Identifier: BSD-2-Clause
// Memory regions.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "process.hh"

namespace urxe {

struct Mr {
    verbs_mr verbs;  // must be first
    uint32_t index;
    Buffer *buffer;  ///< that it is in, with a reference; null: in none
    void *mapping;   ///< of a DMA buffer, made for the region
    size_t mapping_size;
    ibv_dmah *dmah;  ///< null: none
};

ibv_mr *mr_register(ibv_pd *pd, void *address, size_t length, uint64_t iova, int access);
/// Of device memory: peers see it from address 0 on.
ibv_mr *mr_register_dm(ibv_pd *pd, ibv_dm *dm, uint64_t offset, size_t length, unsigned access);
/// Of a DMA buffer, or any other file that can be mapped.
ibv_mr *mr_register_dmabuf(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int file, int access);
/// In all ways, with a DMA handle if there is one.
ibv_mr *mr_register_ex(ibv_pd *pd, ibv_mr_init_attr *attr);
ibv_mr *mr_alloc_null(ibv_pd *pd);
int mr_reregister(verbs_mr *mr, int flags, ibv_pd *pd, void *address, size_t length, int access);
int mr_deregister(verbs_mr *mr);

// What memory windows have in common with regions.

/// An index in the tables of regions, with entries in both; 0: no memory. Under process.lock.
uint32_t mr_take_index(Process &process);
/// Makes what the owner's entry says known to peers, under that key.
void mr_publish(Process &process, uint32_t index, uint32_t key);
/// Takes the key away and waits until nobody uses it any more. Under no Access.
void mr_withdraw(Process &process, uint32_t index);

int mr_advise(ibv_pd *pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge *list, uint32_t count);

}  // namespace urxe
