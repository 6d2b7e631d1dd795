// SPDX-License-Identifier: BSD-2-Clause
// Address handles.
#include "verbs/ah.hh"

#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "verbs/pd.hh"

namespace urxe {

ibv_ah *ah_create(ibv_pd *pd, ibv_ah_attr *attr)
{
    // A route without a global one does not exist on Ethernet (IBTA A17).
    if (attr->port_num != 1 || attr->is_global == 0)
        return common::null_with(EINVAL);
    ibv_gid_entry source;
    // A place beyond the table is as empty as one in it.
    if (const int error = gid_query(pd->context, 1, attr->grh.sgid_index, &source); error != 0)
        return common::null_with(error == ENOENT ? ENODATA : error);
    common::Allocated<Ah> ah = common::allocate<Ah>();
    if (!ah)
        return nullptr;
    ah->ah.context = pd->context;
    ah->ah.pd = pd;
    ah->attr = *attr;
    ah->source = source.gid;
    pd_ref(pd);
    return &ah.release()->ah;
}

int ah_destroy(ibv_ah *ah)
{
    pd_unref(ah->pd);
    std::free(ah);
    return 0;
}

}  // namespace urxe
