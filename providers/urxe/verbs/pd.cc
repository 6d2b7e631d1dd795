// SPDX-License-Identifier: BSD-2-Clause
// Protection domains.
#include "verbs/pd.hh"

#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"

namespace urxe {

ibv_pd *pd_alloc(ibv_context *context)
{
    auto pd = common::allocate<common::Pd>();
    if (!pd)
        return nullptr;
    pd->pd.context = context;
    pd->pd.handle = process_of(*context).next_pd.fetch_add(1) + 1;
    return &pd.release()->pd;
}

int pd_dealloc(ibv_pd *ibpd)
{
    common::Pd *pd = common::to_pd(ibpd);
    if (pd->protection != nullptr)
        return common::parent_domain_dealloc(pd);
    if (common::domain_is_used(pd->users))
        return EBUSY;
    std::free(pd);
    return 0;
}

}  // namespace urxe
