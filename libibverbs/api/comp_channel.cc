// SPDX-License-Identifier: BSD-2-Clause
// Completion channels.
#include "uverbs/comp_channel.hh"

#include <infiniband/driver.h>
#include <unistd.h>

#include "base/export.hh"
#include "base/memory.hh"
#include "provider/context.hh"

// The only verb of an object that IBVERBS_1.0 and later programs share, so either kind of context comes here.
VERBS_EXPORT ibv_comp_channel *ibv_create_comp_channel(ibv_context *context)
{
    context = verbs::provider::context_of_today(context);
    verbs::Allocated<ibv_comp_channel> comp_channel = verbs::allocate<ibv_comp_channel>();
    if (!comp_channel)
        return verbs::null_with(ENOMEM);
    verbs::Result<verbs::UniqueFd> fd = verbs::uverbs::comp_channel_create(verbs::provider::channel(context));
    if (!fd)
        return verbs::null_with(fd.error());
    comp_channel->context = context;
    comp_channel->fd = fd->release();
    return comp_channel.release();
}

VERBS_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel *channel)
{
    ibv_context *context = channel->context;
    pthread_mutex_lock(&context->mutex);
    bool in_use = channel->refcnt != 0;
    pthread_mutex_unlock(&context->mutex);
    if (in_use)
        return EBUSY;
    close(channel->fd);
    free(channel);
    return 0;
}
