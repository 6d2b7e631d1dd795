// SPDX-License-Identifier: BSD-2-Clause
// Address handles.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_ah *ibv_create_ah(ibv_pd *pd, ibv_ah_attr *attr)
{
    ibv_ah *ah = ops(pd->context).create_ah(pd, attr);
    if (ah != nullptr) {
        ah->context = pd->context;
        ah->pd = pd;
    }
    return ah;
}

VERBS_EXPORT int ibv_destroy_ah(ibv_ah *ah)
{
    return ops(ah->context).destroy_ah(ah);
}
