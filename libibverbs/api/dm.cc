// SPDX-License-Identifier: BSD-2-Clause
// Device memory.
#include <infiniband/driver.h>

#include "api/import.hh"
#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_dm *ibv_import_dm(ibv_context *context, uint32_t dm_handle)
{
    ibv_dm *dm = verbs::api::imported(ops(context).import_dm(context, dm_handle));
    if (dm != nullptr)
        dm->context = context;
    return dm;
}

VERBS_EXPORT int ibv_dm_export_dmabuf_fd(ibv_dm *dm)
{
    return ops(dm->context).dm_export_dmabuf_fd(dm);
}

VERBS_EXPORT void ibv_unimport_dm(ibv_dm *dm)
{
    ops(dm->context).unimport_dm(dm);
}
