// SPDX-License-Identifier: BSD-2-Clause
// Commands for dma-bufs of a device's own memory.
#include "uverbs/dmabuf.hh"

#include "uverbs/attributes.hh"

namespace verbs::uverbs {

Result<UniqueFd> dmabuf_export(Channel &channel, uint64_t page_offset)
{
    Attributes<2> attributes({UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC});
    Status status = attributes.new_object(UVERBS_ATTR_ALLOC_DMABUF_HANDLE)
                        .in(UVERBS_ATTR_ALLOC_DMABUF_PGOFF, page_offset)
                        .issue(channel);
    if (!status)
        return status;
    return UniqueFd(static_cast<int>(attributes.result()));
}

}  // namespace verbs::uverbs
