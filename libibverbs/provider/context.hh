// SPDX-License-Identifier: BSD-2-Clause
// The library's own part of a context, and the ways from public objects to it.
#pragma once

#include <infiniband/driver.h>

#include "base/result.hh"
#include "uverbs/channel.hh"

/// What verbs_context.priv points to; verbs.h only names it.
struct verbs_ex_private {
    verbs_context_ops ops;  ///< complete: the provider's ops, and defaults for those that it lacks
    verbs::uverbs::Channel channel;
};

namespace verbs::provider {

inline verbs_context &extended(ibv_context *context)
{
    return *reinterpret_cast<verbs_context *>(reinterpret_cast<char *>(context) -
                                              offsetof(verbs_context, context));
}

inline verbs_ex_private &private_of(const verbs_context &vctx)
{
    return *vctx.priv;
}

/// The ops of the context that an object belongs to.
inline const verbs_context_ops &ops(ibv_context *context)
{
    return private_of(extended(context)).ops;
}

/// The connection to the kernel of the context that an object belongs to.
inline uverbs::Channel &channel(ibv_context *context)
{
    return private_of(extended(context)).channel;
}

/// Sets up a zeroed verbs_context: private part, defaults of all ops, a reference to the device. It takes cmd_fd
/// over, and closes it when it fails. EINVAL, ENOMEM.
Status context_init(verbs_context &vctx, ibv_device &device, int cmd_fd, uint32_t driver_id);

/// Undoes context_init and closes the context's files.
void context_uninit(verbs_context &vctx);

/// Prepares a new queue for events; the channel, if any, counts it.
void cq_init(ibv_cq &cq, ibv_context &context, ibv_comp_channel *channel, void *cq_context);

}  // namespace verbs::provider
