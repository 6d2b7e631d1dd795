// SPDX-License-Identifier: BSD-2-Clause
// DMA handles.
#include "verbs/dmah.hh"

#include <sched.h>

#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"

namespace urxe {
namespace {

/// 0; EPERM where this thread may not run on that processor, or there is none.
int check_cpu(uint32_t cpu)
{
    constexpr size_t kMost = 1 << 16;
    static_assert(kMost % 64 == 0);
    uint64_t set[kMost / 64] = {};
    auto *cpus = reinterpret_cast<cpu_set_t *>(set);
    if (sched_getaffinity(0, sizeof set, cpus) != 0)
        return errno;
    return cpu < kMost && CPU_ISSET_S(cpu, sizeof set, cpus) ? 0 : EPERM;
}

}  // namespace

ibv_dmah *dmah_alloc(ibv_context *context, ibv_dmah_init_attr *attr)
{
    constexpr uint32_t kKnown =
        IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH | IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
    constexpr uint8_t kLastHint = 3;
    if ((attr->comp_mask & ~kKnown) != 0 ||
        ((attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_PH) != 0 && attr->ph > kLastHint) ||
        ((attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE) != 0 &&
         attr->tph_mem_type > IBV_TPH_MEM_TYPE_PM))
        return common::null_with(EINVAL);
    if ((attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_CPU_ID) != 0)
        if (const int error = check_cpu(attr->cpu_id); error != 0)
            return common::null_with(error);
    auto made = common::allocate<Dmah>();
    if (!made)
        return nullptr;
    made->verbs.context = context;
    return &made.release()->verbs;
}

int dmah_dealloc(ibv_dmah *ibdmah)
{
    Dmah *dmah = &to_dmah(ibdmah);
    if (dmah->users.load(std::memory_order_acquire) != 0)
        return EBUSY;
    std::free(dmah);
    return 0;
}

}  // namespace urxe
