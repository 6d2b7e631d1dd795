// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for DMA handles.
#include "uverbs/dmah.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;
using verbs::provider_api::newer_error;

VERBS_EXPORT int ibv_cmd_alloc_dmah(ibv_context *context, verbs_dmah *dmah, ibv_dmah_init_attr *attr)
{
    constexpr uint32_t kKnownMask =
        IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH | IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
    if ((attr->comp_mask & ~kKnownMask) != 0)
        return creation_error(EINVAL);
    verbs::uverbs::DmahRequest request;
    if ((attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_CPU_ID) != 0)
        request.cpu_id = attr->cpu_id;
    if ((attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_PH) != 0)
        request.processing_hint = attr->ph;
    if ((attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE) != 0)
        request.memory_type = attr->tph_mem_type;
    verbs::Result<uint32_t> handle = verbs::uverbs::dmah_alloc(channel(context), request);
    if (!handle)
        return creation_error(newer_error(handle.status()));
    dmah->dmah.context = context;
    dmah->handle = *handle;
    return 0;
}
VERBS_EXPORT_SINCE_59(ibv_cmd_alloc_dmah);

VERBS_EXPORT int ibv_cmd_free_dmah(verbs_dmah *dmah)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::dmah_free(channel(dmah->dmah.context), dmah->handle));
}
VERBS_EXPORT_SINCE_59(ibv_cmd_free_dmah);
