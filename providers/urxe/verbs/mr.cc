// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: their keys, and what of the address space they may cover.
#include "verbs/mr.hh"

#include <cerrno>
#include <cstdlib>
#include <span>

#include "common/memory.hh"
#include "context.hh"
#include "direct/memory.hh"
#include "verbs/address_space.hh"
#include "verbs/mw.hh"
#include "verbs/pd.hh"

namespace urxe {
namespace {

using shared::MrEntry;
using shared::MrKind;

constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |
                             IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_FLUSH_GLOBAL |
                             IBV_ACCESS_OPTIONAL_RANGE;

/// 0, or the errno value with which the rights are refused.
int check_access(unsigned access)
{
    if ((access & ~kAccess) != 0)
        return EOPNOTSUPP;
    // Who may write from afar must be able to here (IBTA 11.2.8.2).
    const bool writes = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
    return writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

void describe(MrEntry &entry, MrKind kind, const ibv_pd &pd, uintptr_t address, uint64_t length,
              uint64_t iova, unsigned access)
{
    entry.kind = kind;
    entry.pd = pd_number(&pd);
    entry.access = access;
    entry.iova = iova;
    entry.length = length;
    entry.address = address;
    entry.buffer = entry.region = entry.qp_num = 0;
    entry.is_paged_on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0 ? 1 : 0;
}

Mr *make(ibv_pd *pd, MrKind kind, void *address, uint64_t length, uint64_t iova, unsigned access)
{
    Process &process = process_of(*pd->context);
    common::Allocated<Mr> mr = common::allocate<Mr>();
    if (!mr)
        return nullptr;
    common::Locked locked(process.lock);
    const uint32_t index = mr_take_index(process);
    if (index == 0)
        return common::null_with(ENOMEM);
    MrEntry &own = *process.regions.find(index);
    describe(own, kind, *pd, reinterpret_cast<uintptr_t>(address), length, iova, access);
    Mr &made = *mr;
    made.index = index;
    const uint32_t key = index << 8 | process.next_key.fetch_add(1) % 256;
    mr_publish(process, index, key);
    made.verbs.ibv_mr.lkey = made.verbs.ibv_mr.rkey = key;
    made.verbs.ibv_mr.handle = index;
    made.verbs.ibv_mr.context = pd->context;
    made.verbs.ibv_mr.pd = pd;
    made.verbs.access = static_cast<int>(access);
    pd_ref(pd);
    return mr.release();
}

/// Where in the process's memory a range of a region is. 0 or a positive errno value.
int find_range(Process &process, const ibv_pd &pd, const ibv_sge &sge, bool writes, uintptr_t &start)
{
    common::Locked locked(process.lock);
    const MrEntry *entry = process.regions.find(sge.lkey >> 8);
    if (entry == nullptr || entry->key.load() != sge.lkey || entry->kind != MrKind::kMemory)
        return ENOENT;
    if (entry->pd != pd_number(&pd) || (writes && (entry->access & IBV_ACCESS_LOCAL_WRITE) == 0))
        return EPERM;
    if (!direct::covers(*entry, sge.addr, sge.length))
        return EFAULT;
    start = entry->address + (sge.addr - entry->iova);
    return 0;
}

}  // namespace

uint32_t mr_take_index(Process &process)
{
    const uint32_t index = process.mr_indices.take(shared::MrTable::kCapacity);
    if (index == 0)
        return 0;
    if (process.make_entry(process.header().regions, index) == 0 && process.regions.make(index) != nullptr)
        return index;
    process.mr_indices.give(index);
    return 0;
}

void mr_publish(Process &process, uint32_t index, uint32_t key)
{
    MrEntry &own = *process.regions.find(index);
    MrEntry &seen = *process.self.heap.entry(process.header().regions, index);
    seen.kind = own.kind;
    seen.pd = own.pd;
    seen.access = own.access;
    seen.iova = own.iova;
    seen.length = own.length;
    seen.address = own.address;
    seen.buffer = own.buffer;
    seen.region = own.region;
    seen.qp_num = own.qp_num;
    seen.is_paged_on_demand = own.is_paged_on_demand;
    // A window is reached while both have its key.
    seen.key.store(key, std::memory_order_release);
    own.key.store(key, std::memory_order_release);
}

void mr_withdraw(Process &process, uint32_t index)
{
    if (process.regions.find(index)->key.exchange(0) == 0)
        return;
    process.self.heap.entry(process.header().regions, index)->key.store(0, std::memory_order_release);
    process.wait_for_accesses();
}

ibv_mr *mr_register(ibv_pd *pd, void *address, size_t length, uint64_t iova, int access_flags)
{
    const auto access = static_cast<unsigned>(access_flags);
    if (const int error = check_access(access); error != 0)
        return common::null_with(error);
    const auto start = reinterpret_cast<uintptr_t>(address);
    if ((access & IBV_ACCESS_ON_DEMAND) == 0) {
        if (const int error = bring_in(start, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0); error != 0)
            return common::null_with(error);
    } else if (length == SIZE_MAX ? start != 0 || iova != 0 : start + length < start) {
        return common::null_with(
            EINVAL);  // All of the address space is an implicit region, which begins at 0.
    }
    Mr *mr =
        make(pd, MrKind::kMemory, address, length, (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova, access);
    if (mr == nullptr)
        return nullptr;
    mr->verbs.mr_type = IBV_MR_TYPE_MR;
    return &mr->verbs.ibv_mr;
}

ibv_mr *mr_alloc_null(ibv_pd *pd)
{
    Mr *mr = make(pd, MrKind::kNull, nullptr, UINT64_MAX, 0, IBV_ACCESS_LOCAL_WRITE);
    if (mr == nullptr)
        return nullptr;
    mr->verbs.mr_type = IBV_MR_TYPE_NULL_MR;
    mr->verbs.ibv_mr.length = SIZE_MAX;
    mr->verbs.ibv_mr.rkey = 0;  // It is for local use alone.
    return &mr->verbs.ibv_mr;
}

int mr_reregister(verbs_mr *verbs, int flags, ibv_pd *pd, void *address, size_t length, int access_flags)
{
    auto &mr = *reinterpret_cast<Mr *>(verbs);
    ibv_mr &ibmr = mr.verbs.ibv_mr;
    Process &process = process_of(*ibmr.context);
    const MrEntry &before = *process.regions.find(mr.index);
    const bool has_memory = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    const auto access =
        (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? static_cast<unsigned>(access_flags) : before.access;
    const auto start = has_memory ? reinterpret_cast<uintptr_t>(address) : before.address;
    const uint64_t size = has_memory ? length : before.length;
    if (const int error = check_access(access); error != 0)
        return error;
    if ((access & IBV_ACCESS_ON_DEMAND) == 0)
        if (const int error = bring_in(start, size, (access & IBV_ACCESS_LOCAL_WRITE) != 0); error != 0)
            return error;
    if (mw_is_bound_to(process, ibmr.lkey))
        return EBUSY;
    common::Locked locked(process.lock);
    mr_withdraw(process, mr.index);
    MrEntry &own = *process.regions.find(mr.index);
    const uint64_t iova = !has_memory ? own.iova : (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : start;
    ibv_pd *const domain = (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd : ibmr.pd;
    describe(own, own.kind, *domain, start, size, iova, access);
    // Whoever has the old key has no business with what the region is now.
    const uint32_t key = mr.index << 8 | ((ibmr.lkey + 1) & 0xff);
    mr_publish(process, mr.index, key);
    ibmr.lkey = ibmr.rkey = key;
    pd_unref(ibmr.pd);
    pd_ref(domain);
    return 0;
}

int mr_deregister(verbs_mr *verbs)
{
    auto *mr = reinterpret_cast<Mr *>(verbs);
    Process &process = process_of(*mr->verbs.ibv_mr.context);
    if (mw_is_bound_to(process, mr->verbs.ibv_mr.lkey))
        return EBUSY;
    mr_withdraw(process, mr->index);
    {
        common::Locked locked(process.lock);
        process.mr_indices.give(mr->index);
    }
    pd_unref(mr->verbs.ibv_mr.pd);
    std::free(mr);
    return 0;
}

int mr_advise(ibv_pd *pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge *list, uint32_t count)
{
    Process &process = process_of(*pd->context);
    const bool writes = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
    if (!writes && advice != IBV_ADVISE_MR_ADVICE_PREFETCH &&
        advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
        return EOPNOTSUPP;
    if ((flags & ~uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}) != 0 || count == 0)
        return EINVAL;
    // All is checked before anything is done.
    for (const bool checks : {true, false}) {
        for (const ibv_sge &sge : std::span(list, count)) {
            uintptr_t start = 0;
            if (const int error = find_range(process, *pd, sge, writes, start); error != 0)
                return error;
            // Pages that are there already need no bringing in.
            if (checks || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
                continue;
            if (const int error = bring_in(start, sge.length, writes); error != 0)
                return error;
        }
    }
    return 0;
}

}  // namespace urxe
