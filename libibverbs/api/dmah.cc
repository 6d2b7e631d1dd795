// SPDX-License-Identifier: BSD-2-Clause
// DMA handles.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_dmah *ibv_alloc_dmah(ibv_context *context, ibv_dmah_init_attr *attr)
{
    ibv_dmah *dmah = ops(context).alloc_dmah(context, attr);
    if (dmah != nullptr)
        dmah->context = context;
    return dmah;
}

VERBS_EXPORT int ibv_dealloc_dmah(ibv_dmah *dmah)
{
    return ops(dmah->context).dealloc_dmah(dmah);
}
