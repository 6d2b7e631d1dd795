// SPDX-License-Identifier: BSD-2-Clause
// Protection domains.
#include "verbs/pd.hh"

#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "exports.hh"

namespace urxe {
namespace {

struct Pd {
    common::Pd domain;  // must be first
    bool is_imported;
};

ibv_pd *make(ibv_context *context, uint32_t number, bool is_imported)
{
    auto made = common::allocate<Pd>();
    if (!made)
        return nullptr;
    made->domain.pd.context = context;
    made->domain.pd.handle = number;
    made->is_imported = is_imported;
    return &made.release()->domain.pd;
}

}  // namespace

ibv_pd *pd_alloc(ibv_context *context)
{
    Process &process = process_of(*context);
    common::Locked locked(process.lock);
    const uint32_t index = process.pd_indices.take(shared::PdTable::kCapacity);
    const bool is_there = index != 0 && process.make_entry(process.header().pds, index) == 0;
    const uint32_t number = shared::pd_number(process.self.slot, process.next_pd.fetch_add(1), index);
    ibv_pd *pd = is_there ? make(context, number, false) : common::null_with(ENOMEM);
    if (pd == nullptr) {
        if (index != 0)
            process.pd_indices.give(index);
        return common::null_with(ENOMEM);
    }
    shared::PdEntry &entry = *process.entry(process.header().pds, index);
    entry.context = to_context(context)->number;
    entry.number.store(number, std::memory_order_release);
    return pd;
}

int pd_dealloc(ibv_pd *ibpd)
{
    common::Pd *pd = common::to_pd(ibpd);
    if (pd->protection != nullptr)
        return common::parent_domain_dealloc(pd);
    if (common::domain_is_used(pd->users))
        return EBUSY;
    if (reinterpret_cast<Pd *>(pd)->is_imported)
        return EOPNOTSUPP;
    Process &process = process_of(*ibpd->context);
    const uint32_t index = shared::index_of_pd(pd_number(ibpd));
    {
        common::Locked locked(process.lock);
        process.entry(process.header().pds, index)->number.store(0);
        process.pd_indices.give(index);
    }
    std::free(pd);
    return 0;
}

ibv_pd *pd_import(ibv_context *context, uint32_t handle)
{
    return export_find_pd(*to_context(context), handle) == nullptr ? nullptr : make(context, handle, true);
}

void pd_unimport(ibv_pd *ibpd)
{
    common::Pd *pd = common::to_pd(ibpd);
    if (pd->protection == nullptr && reinterpret_cast<Pd *>(pd)->is_imported &&
        !common::domain_is_used(pd->users))
        std::free(pd);
}

}  // namespace urxe
