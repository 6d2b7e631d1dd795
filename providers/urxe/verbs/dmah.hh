// SPDX-License-Identifier: BSD-2-Clause
// DMA handles.
#pragma once

#include <infiniband/driver.h>

#include <atomic>
#include <cstdint>

namespace urxe {

/// What a program says of who will read memory. It changes nothing here: the processor copies, through its own caches.
struct Dmah {
    ibv_dmah verbs;               // must be first
    std::atomic<uint32_t> users;  ///< memory regions
};

inline Dmah &to_dmah(ibv_dmah *dmah)
{
    return *reinterpret_cast<Dmah *>(dmah);
}

ibv_dmah *dmah_alloc(ibv_context *context, ibv_dmah_init_attr *attr);
int dmah_dealloc(ibv_dmah *dmah);

}  // namespace urxe
