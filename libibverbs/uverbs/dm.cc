// SPDX-License-Identifier: BSD-2-Clause
// Commands for device memory.
#include "uverbs/dm.hh"

namespace verbs::uverbs {

Result<uint32_t> dm_alloc(Channel &channel, uint64_t length, uint32_t log_alignment,
                          ibv_command_buffer *driver)
{
    Attributes<3> attributes({UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC});
    Status status = attributes.new_object(UVERBS_ATTR_ALLOC_DM_HANDLE)
                        .in(UVERBS_ATTR_ALLOC_DM_LENGTH, length)
                        .in(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, log_alignment)
                        .issue(channel, driver);
    if (!status)
        return status;
    return attributes.result();
}

Status dm_free(Channel &channel, uint32_t handle)
{
    return Attributes<1>({UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE})
        .object(UVERBS_ATTR_FREE_DM_HANDLE, handle)
        .issue(channel);
}

}  // namespace verbs::uverbs
