// SPDX-License-Identifier: BSD-2-Clause
// The library's own part of a context, and the ways from public objects to it.
#pragma once

#include <infiniband/driver.h>

#include "base/result.hh"
#include "provider/layouts/layout.hh"
#include "uverbs/channel.hh"

/// What verbs_context.priv points to; verbs.h only names it.
struct verbs_ex_private {
    verbs_context_ops ops;  ///< complete: the provider's ops, and defaults for those that it lacks
    verbs::uverbs::Channel channel;
    const verbs::provider::Layout *layout;  ///< the context's and that of its provider's objects
};

namespace verbs::provider {

/// The extended context, of which the last `sz` bytes exist.
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

/// Today's context behind one that a program has: the context of an IBVERBS_1.0 program holds it where
/// today's has its mark.
inline ibv_context *context_of_today(ibv_context *context)
{
    return context->abi_compat == __VERBS_ABI_IS_EXTENDED ? context
                                                          : static_cast<ibv_context *>(context->abi_compat);
}

/// The layout of a context and of the objects that its provider makes.
inline const Layout &layout(ibv_context *context)
{
    return *private_of(extended(context)).layout;
}

/// The context that a provider's alloc_context or import_context handed out, or null where it gave none.
ibv_context *context_of(const verbs_device_ops &provider, verbs_context *handed_out);

/// Sets up a zeroed context of the layout: private part, defaults of all ops, a reference to the device. It
/// takes cmd_fd over, and closes it when it fails. ENOMEM.
Status context_init(ibv_context &context, const Layout &layout, ibv_device &device, int cmd_fd,
                    uint32_t driver_id);

/// Undoes context_init and closes the context's files.
void context_uninit(ibv_context &context);

/// EINVAL where a queue of a userspace device would be on the channel of another context; the kernel looks after its
/// own devices.
Status cq_check_channel(const ibv_context &context, const ibv_comp_channel *channel);

/// Prepares a new queue for events; the channel, if any, counts it.
void cq_init(ibv_cq &cq, ibv_context &context, ibv_comp_channel *channel, void *cq_context);

}  // namespace verbs::provider
