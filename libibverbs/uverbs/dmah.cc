// SPDX-License-Identifier: BSD-2-Clause
// Commands for DMA handles.
#include "uverbs/dmah.hh"

#include "uverbs/attributes.hh"

namespace verbs::uverbs {

Result<uint32_t> dmah_alloc(Channel &channel, const DmahRequest &request)
{
    Attributes<4> attributes({UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC});
    attributes.new_object(UVERBS_ATTR_ALLOC_DMAH_HANDLE);
    if (request.cpu_id)
        attributes.in(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, *request.cpu_id);
    if (request.memory_type)
        attributes.enum_in(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, *request.memory_type, nullptr, 0);
    if (request.processing_hint)
        attributes.in(UVERBS_ATTR_ALLOC_DMAH_PH, *request.processing_hint);
    if (Status status = attributes.issue(channel); !status)
        return status;
    return attributes.result();
}

Status dmah_free(Channel &channel, uint32_t handle)
{
    return Attributes<1>({UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE})
        .object(UVERBS_ATTR_FREE_DMA_HANDLE, handle)
        .issue(channel);
}

}  // namespace verbs::uverbs
