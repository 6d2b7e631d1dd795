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
    common::Allocated<Pd> pd = common::allocate<Pd>();
    if (!pd)
        return nullptr;
    pd->pd.context = context;
    pd->number = process_of(*context).next_pd.fetch_add(1) + 1;
    pd->pd.handle = pd->number;
    return &pd.release()->pd;
}

int pd_dealloc(ibv_pd *ibpd)
{
    Pd &pd = to_pd(ibpd);
    if (pd.users.load() != 0)
        return EBUSY;
    std::free(&pd);
    return 0;
}

}  // namespace urxe
