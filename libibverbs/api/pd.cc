// SPDX-License-Identifier: BSD-2-Clause
// Protection domains.
#include <infiniband/driver.h>

#include "api/import.hh"
#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_pd *ibv_alloc_pd(ibv_context *context)
{
    ibv_pd *pd = ops(context).alloc_pd(context);
    if (pd != nullptr)
        pd->context = context;
    return pd;
}

VERBS_EXPORT int ibv_dealloc_pd(ibv_pd *pd)
{
    return ops(pd->context).dealloc_pd(pd);
}

VERBS_EXPORT ibv_pd *ibv_import_pd(ibv_context *context, uint32_t pd_handle)
{
    ibv_pd *pd = verbs::api::imported(ops(context).import_pd(context, pd_handle));
    if (pd != nullptr)
        pd->context = context;
    return pd;
}

VERBS_EXPORT void ibv_unimport_pd(ibv_pd *pd)
{
    ops(pd->context).unimport_pd(pd);
}
