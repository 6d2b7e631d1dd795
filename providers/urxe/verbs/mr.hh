// SPDX-License-Identifier: BSD-2-Clause
// Memory regions.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "process.hh"

namespace urxe {

struct Dm;

struct Mr {
    verbs_mr verbs;  // must be first
    uint32_t index;
    Buffer *buffer;  ///< that it is in, with a reference; null: in none
    void *mapping;   ///< of a DMA buffer, made for the region
    size_t mapping_size;
    ibv_dmah *dmah;   ///< null: none
    Dm *imported_dm;  ///< that it is of, with a reference; null: of none
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
/// ENOENT where somebody who imported the region has deregistered it, or its maker: then mr_unimport() lets go of what is left.
int mr_deregister(verbs_mr *mr);
ibv_mr *mr_import(ibv_pd *pd, uint32_t handle);
/// Does nothing to a region of one's own that is still there.
void mr_unimport(ibv_mr *mr);
/// Nobody reaches those any more that a context leaves behind, once all accesses have ended. Whether there were any. Under process.lock.
bool mr_abandon(Process &process, uint32_t context_number);
/// Regions that others have deregistered are gone for the program's own requests too. Under process.lock.
void mr_forget_lost(Process &process);

// What memory windows have in common with regions.

/// An index in the tables of regions, for an object of a domain, with entries in both; 0: no memory. Under process.lock.
uint32_t mr_take_index(Process &process, uint32_t pd);
void mr_give_index(Process &process, uint32_t index);
/// Makes what the owner's entry says known to peers, under that key.
void mr_publish(Process &process, uint32_t index, uint32_t key);
/// Takes the key away and waits until nobody uses it any more. Under no Access.
void mr_withdraw(Process &process, uint32_t index);

int mr_advise(ibv_pd *pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge *list, uint32_t count);

}  // namespace urxe
