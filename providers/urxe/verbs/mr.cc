// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: their keys, and what of the address space they may cover.
#include "verbs/mr.hh"

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "common/memory.hh"
#include "context.hh"
#include "direct/memory.hh"
#include "exports.hh"
#include "verbs/address_space.hh"
#include "verbs/dm.hh"
#include "verbs/dmah.hh"
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

/// What a region is of.
struct Range {
    MrKind kind;
    uintptr_t address;
    uint64_t length;
    uint64_t iova;
    bool may_be_missing;
    Buffer *buffer;  ///< with a reference; null: in none
};

/// Memory of the process. Gives it a reference to the buffer that it is in.
Range find_own(Process &process, uintptr_t address, uint64_t length, uint64_t iova, unsigned access)
{
    Buffer *buffer = process.buffers.find(address, length);
    // All of a buffer is there as long as the buffer is.
    const bool may_be_missing = (access & IBV_ACCESS_ON_DEMAND) != 0 && buffer == nullptr;
    return {MrKind::kMemory, address, length, iova, may_be_missing, buffer};
}

void describe(MrEntry &entry, const ibv_pd &pd, const Range &range, unsigned access)
{
    entry.kind = range.kind;
    entry.pd = pd_number(&pd);
    entry.access = access;
    entry.iova = range.iova;
    entry.length = range.length;
    entry.address = range.address;
    entry.buffer = range.buffer == nullptr ? 0 : range.buffer->index;
    entry.region = entry.qp_num = 0;
    entry.is_paged_on_demand = range.may_be_missing ? 1 : 0;
    entry.context = to_context(pd.context)->number;
}

/// Takes over the reference to the buffer.
Mr *make(ibv_pd *pd, const Range &range, unsigned access, ibv_mr_type type)
{
    Process &process = process_of(*pd->context);
    common::Allocated<Mr> mr = common::allocate<Mr>();
    uint32_t index = 0;
    if (mr) {
        common::Locked locked(process.lock);
        index = mr_take_index(process, pd_number(pd));
    }
    if (index == 0) {
        if (range.buffer != nullptr)
            process.buffers.release(process, *range.buffer);
        return common::null_with(ENOMEM);
    }
    describe(*process.regions.find(index), *pd, range, access);
    Mr &made = *mr;
    made.index = index;
    made.buffer = range.buffer;
    const uint32_t key = process.make_key(index);
    mr_publish(process, index, key);
    made.verbs.ibv_mr.lkey = made.verbs.ibv_mr.rkey = key;
    made.verbs.ibv_mr.handle = index;
    made.verbs.ibv_mr.context = pd->context;
    made.verbs.ibv_mr.pd = pd;
    made.verbs.ibv_mr.length = range.length;
    made.verbs.mr_type = type;
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

/// Calls each(own entry, the one that peers see) for all that the owner has not taken away.
template <class Each>
void for_each_region(Process &process, Each each)
{
    for (uint32_t index = 1; index < shared::MrTable::kCapacity; ++index) {
        MrEntry *own = process.regions.find(index);
        if (own == nullptr)
            index |= shared::MrTable::kEntriesPerChunk - 1;
        else if (own->key.load(std::memory_order_relaxed) != 0 && !shared::is_window(own->kind))
            each(*own, *process.entry(process.header().regions, index));
    }
}

bool is_imported(const Mr &mr)
{
    return mr.verbs.mr_type == IBV_MR_TYPE_IMPORTED_MR;
}

/// Whether somebody who imported the region has deregistered it.
bool is_lost(Process &process, const Mr &mr)
{
    const MrEntry &seen = *process.entry(process.header().regions, mr.index);
    return seen.lost_key.load(std::memory_order_acquire) == mr.verbs.ibv_mr.lkey;
}

/// Lets go of what a region had that nobody reaches any more.
void release(Mr *mr)
{
    Process &process = process_of(*mr->verbs.ibv_mr.context);
    {
        common::Locked locked(process.lock);
        mr_give_index(process, mr->index);
    }
    if (mr->buffer != nullptr)
        process.buffers.release(process, *mr->buffer);
    if (mr->mapping != nullptr)
        munmap(mr->mapping, mr->mapping_size);
    if (mr->dmah != nullptr)
        to_dmah(mr->dmah).users.fetch_sub(1, std::memory_order_release);
    if (mr->imported_dm != nullptr)
        dm_unref(*mr->imported_dm);
    pd_unref(mr->verbs.ibv_mr.pd);
    std::free(mr);
}

/// Takes a region away from all, the process that made it included.
int deregister_imported(Mr *mr)
{
    ibv_mr &ibmr = mr->verbs.ibv_mr;
    Process &process = process_of(*ibmr.context);
    Peer &maker = *to_context(ibmr.context)->exporter;
    uint32_t key = ibmr.lkey;
    if (maker.is_self && mw_is_bound_to(process, key))
        return EBUSY;
    MrEntry *seen = maker.heap.entry(maker.heap.header().regions, ibmr.handle);
    if (maker.is_dead.load() || seen == nullptr || !seen->key.compare_exchange_strong(key, 0))
        return ENOENT;
    seen->lost_key.store(key, std::memory_order_release);
    process.call_for_lost_regions(maker);
    Process::wait_for_accesses(maker.heap.header());
    if (maker.is_self) {
        process.attend();
        process.wait_for_own_threads();
    }
    mr_unimport(&ibmr);
    return 0;
}

}  // namespace

uint32_t mr_take_index(Process &process, uint32_t pd)
{
    const bool is_foreign = shared::slot_of_pd(pd) != process.self.slot;
    IndexPool &pool = is_foreign ? process.foreign_mr_indices : process.mr_indices;
    uint32_t index = pool.take(shared::kFirstForeignMr);
    if (index == 0)
        return 0;
    if (is_foreign)
        index += shared::kFirstForeignMr;
    if (process.make_entry(process.header().regions, index) == 0 && process.regions.make(index) != nullptr)
        return index;
    mr_give_index(process, index);
    return 0;
}

void mr_give_index(Process &process, uint32_t index)
{
    if (index < shared::kFirstForeignMr)
        process.mr_indices.give(index);
    else
        process.foreign_mr_indices.give(index - shared::kFirstForeignMr);
}

void mr_publish(Process &process, uint32_t index, uint32_t key)
{
    MrEntry &own = *process.regions.find(index);
    MrEntry &seen = *process.entry(process.header().regions, index);
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
    seen.context = own.context;
    seen.lost_key.store(0, std::memory_order_relaxed);
    // A window is reached while both have its key.
    seen.key.store(key, std::memory_order_release);
    own.key.store(key, std::memory_order_release);
}

void mr_withdraw(Process &process, uint32_t index)
{
    if (process.regions.find(index)->key.exchange(0) == 0)
        return;
    process.entry(process.header().regions, index)->key.store(0, std::memory_order_release);
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
    const uint64_t first = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
    Mr *mr =
        make(pd, find_own(process_of(*pd->context), start, length, first, access), access, IBV_MR_TYPE_MR);
    return mr == nullptr ? nullptr : &mr->verbs.ibv_mr;
}

ibv_mr *mr_register_dm(ibv_pd *pd, ibv_dm *dm, uint64_t offset, size_t length, unsigned access)
{
    Dm &memory = to_dm(dm);
    if (const int error = check_access(access); error != 0)
        return common::null_with(error);
    if ((access & IBV_ACCESS_ZERO_BASED) == 0 || offset > memory.length || length > memory.length - offset)
        return common::null_with(EINVAL);
    Range range = find_own(process_of(*pd->context), memory.address, memory.length, 0, access);
    range.address += offset;
    range.length = length;
    Mr *mr = make(pd, range, access, IBV_MR_TYPE_DM_MR);
    if (mr == nullptr)
        return nullptr;
    if (memory.memory == nullptr) {
        mr->imported_dm = &memory;
        dm_ref(memory);
    }
    return &mr->verbs.ibv_mr;
}

ibv_mr *mr_register_dmabuf(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int file,
                           int access_flags)
{
    const auto access = static_cast<unsigned>(access_flags);
    if (const int error = check_access(access); error != 0)
        return common::null_with(error);
    Mapping mapping;
    if (const int error = map_file(file, offset, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0, mapping);
        error != 0) {
        __verbs_log(verbs_get_ctx(pd->context), VERBS_LOG_WARN,
                    "urxe: %zu bytes from %llu on of file %d cannot be mapped to be a memory region: %s",
                    length, static_cast<unsigned long long>(offset), file, strerrordesc_np(error));
        return common::null_with(error);
    }
    const Range range = {MrKind::kMemory, mapping.address, length, iova, mapping.may_shrink, nullptr};
    Mr *mr = make(pd, range, access, IBV_MR_TYPE_DMABUF_MR);
    if (mr == nullptr) {
        munmap(mapping.start, mapping.size);
        return common::null_with(ENOMEM);
    }
    mr->mapping = mapping.start;
    mr->mapping_size = mapping.size;
    return &mr->verbs.ibv_mr;
}

ibv_mr *mr_register_ex(ibv_pd *pd, ibv_mr_init_attr *attr)
{
    const bool has_handle = (attr->comp_mask & IBV_REG_MR_MASK_DMAH) != 0;
    if (has_handle && (attr->dmah == nullptr || attr->dmah->context != pd->context))
        return common::null_with(EINVAL);
    ibv_mr *mr = nullptr;
    switch (attr->comp_mask & ~uint64_t{IBV_REG_MR_MASK_DMAH}) {
        case IBV_REG_MR_MASK_ADDR:
            mr = mr_register(pd, attr->addr, attr->length, reinterpret_cast<uintptr_t>(attr->addr),
                             attr->access);
            break;
        case IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA:
            mr = mr_register(pd, attr->addr, attr->length, attr->iova, attr->access);
            break;
        case IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET:
            mr = mr_register_dmabuf(pd, attr->fd_offset, attr->length, attr->iova, attr->fd, attr->access);
            break;
        default:
            return common::null_with(EINVAL);
    }
    if (mr != nullptr && has_handle) {
        reinterpret_cast<Mr *>(mr)->dmah = attr->dmah;
        to_dmah(attr->dmah).users.fetch_add(1, std::memory_order_relaxed);
    }
    return mr;
}

ibv_mr *mr_alloc_null(ibv_pd *pd)
{
    const Range all = {MrKind::kNull, 0, UINT64_MAX, 0, false, nullptr};
    Mr *mr = make(pd, all, IBV_ACCESS_LOCAL_WRITE, IBV_MR_TYPE_NULL_MR);
    if (mr == nullptr)
        return nullptr;
    mr->verbs.ibv_mr.rkey = 0;  // It is for local use alone.
    return &mr->verbs.ibv_mr;
}

int mr_reregister(verbs_mr *verbs, int flags, ibv_pd *pd, void *address, size_t length, int access_flags)
{
    auto &mr = *reinterpret_cast<Mr *>(verbs);
    ibv_mr &ibmr = mr.verbs.ibv_mr;
    Process &process = process_of(*ibmr.context);
    const MrEntry &before = *process.regions.find(mr.index);
    if (is_lost(process, mr))
        return ENOENT;
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
    const uint64_t iova = !has_memory ? before.iova : (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : start;
    const Range range = find_own(process, start, size, iova, access);
    ibv_pd *const domain = (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd : ibmr.pd;
    // Whoever has the old key has no business with what the region is now.
    const uint32_t key = mr.index << 8 | ((ibmr.lkey + 1) & 0xff);
    mr_withdraw(process, mr.index);
    process.wait_for_own_threads();
    {
        common::Locked locked(process.lock);
        describe(*process.regions.find(mr.index), *domain, range, access);
        mr_publish(process, mr.index, key);
    }
    if (mr.buffer != nullptr)
        process.buffers.release(process, *mr.buffer);
    mr.buffer = range.buffer;
    ibmr.lkey = ibmr.rkey = key;
    pd_unref(ibmr.pd);
    pd_ref(domain);
    return 0;
}

int mr_deregister(verbs_mr *verbs)
{
    auto *mr = reinterpret_cast<Mr *>(verbs);
    Process &process = process_of(*mr->verbs.ibv_mr.context);
    if (is_imported(*mr))
        return deregister_imported(mr);
    if (mw_is_bound_to(process, mr->verbs.ibv_mr.lkey))
        return EBUSY;
    if (is_lost(process, *mr))
        return ENOENT;
    mr_withdraw(process, mr->index);
    process.wait_for_own_threads();
    release(mr);
    return 0;
}

ibv_mr *mr_import(ibv_pd *pd, uint32_t handle)
{
    const Context &importer = *to_context(pd->context);
    const Peer &maker = *importer.exporter;
    const MrEntry *entry = export_find_mr(importer, handle);
    if (entry == nullptr)
        return nullptr;
    const bool is_memory = entry->kind == MrKind::kMemory;
    if (is_memory && entry->buffer == 0 && maker.refuses_copies.load()) {
        __verbs_log(
            verbs_get_ctx(pd->context), VERBS_LOG_WARN,
            "urxe: a region of process %u cannot be imported, since the system does not let this process "
            "reach its memory",
            maker.pid);
        return common::null_with(EPERM);
    }
    auto made = common::allocate<Mr>();
    if (!made)
        return nullptr;
    made->verbs.mr_type = IBV_MR_TYPE_IMPORTED_MR;
    ibv_mr &mr = made->verbs.ibv_mr;
    mr.context = pd->context;
    mr.pd = pd;
    mr.length = entry->length;
    mr.handle = handle;
    mr.lkey = entry->key.load();
    mr.rkey = is_memory ? mr.lkey : 0;
    pd_ref(pd);
    return &made.release()->verbs.ibv_mr;
}

void mr_unimport(ibv_mr *ibmr)
{
    auto *mr = reinterpret_cast<Mr *>(ibmr);
    if (is_imported(*mr)) {
        pd_unref(ibmr->pd);
        std::free(mr);
    } else if (Process &process = process_of(*ibmr->context); is_lost(process, *mr)) {
        mr_withdraw(process, mr->index);
        process.wait_for_own_threads();
        release(mr);
    }
}

bool mr_abandon(Process &process, uint32_t context_number)
{
    bool was_any = false;
    for_each_region(process, [&](MrEntry &own, MrEntry &seen) {
        if (own.context != context_number)
            return;
        own.key.store(0, std::memory_order_release);
        seen.key.store(0, std::memory_order_release);
        was_any = true;
    });
    return was_any;
}

void mr_forget_lost(Process &process)
{
    for_each_region(process, [](MrEntry &own, MrEntry &seen) {
        if (seen.lost_key.load(std::memory_order_acquire) == own.key.load(std::memory_order_relaxed))
            own.key.store(0, std::memory_order_release);
    });
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
